import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
UNREACHABLE = re.compile(
    r"dns error|failed to lookup|error sending request|tcp connect error|network unreachable|"
    r"operation timed out|network was disabled",
    re.IGNORECASE,
)


@pytest.fixture(scope="session")
def wheel(tmp_path_factory):
    """The wheel, built from the source distribution as an index would get it."""
    out = tmp_path_factory.mktemp("dist")
    command = [sys.executable, "-m", "build", "--no-isolation", "--outdir", str(out), str(ROOT)]
    built = subprocess.run(command, capture_output=True, text=True, timeout=240, check=False)
    assert built.returncode == 0, built.stdout + built.stderr
    (made,) = out.glob("*.whl")
    return made


class Installed:
    """A clean environment outside the repository, and an empty directory to work in."""

    def __init__(self, root, requirement):
        self.home = root / "work"
        self.home.mkdir()
        self.bin = root / "venv" / "bin"
        kept = {k: v for k, v in os.environ.items() if not k.startswith(("PYTHON", "PYTEST"))}
        kept.pop("VIRTUAL_ENV", None)
        self.environment = {**kept, "PATH": f"{self.bin}:{kept['PATH']}"}
        self._uv("venv", "--quiet", "--python", sys.executable, str(root / "venv"))
        python = str(self.bin / "python")
        self._uv("pip", "install", "--quiet", "--python", python, requirement)

    def run(self, *words, timeout=240):
        """Run a command of the environment from the empty directory."""
        return subprocess.run(
            [self.bin / words[0], *words[1:]],
            cwd=self.home,
            env=self.environment,
            capture_output=True,
            text=True,
            timeout=timeout,
            check=False,
        )

    def _uv(self, *words):
        command = [sys.executable, "-m", "uv", *words]
        ran = subprocess.run(command, capture_output=True, text=True, timeout=240, check=False)
        if ran.returncode and UNREACHABLE.search(ran.stderr):
            pytest.skip(f"the package index cannot be reached: {ran.stderr.strip()[-200:]}")
        assert ran.returncode == 0, ran.stderr


@pytest.fixture(scope="session")
def installed(wheel, tmp_path_factory):
    """What a user gets with the extras that the README names."""
    root = tmp_path_factory.mktemp("user")
    return Installed(root, f"aml-contract[server,hybrid,contract] @ {wheel.as_uri()}")


@pytest.fixture(scope="session")
def bare(wheel, tmp_path_factory):
    """What a user gets without any extra."""
    return Installed(tmp_path_factory.mktemp("bare"), f"aml-contract @ {wheel.as_uri()}")
