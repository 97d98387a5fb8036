import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.servers import in_process

BIN = Path(sys.executable).parent


class Project:
    """A new project, and an environment to work on it."""

    def __init__(self, home, binaries=BIN):
        self.home = home
        self.bin = binaries
        kept = {k: v for k, v in os.environ.items() if not k.startswith(("AML_", "PYTHON"))}
        kept.pop("VIRTUAL_ENV", None)
        self.environment = {**kept, "PATH": f"{binaries}:{kept['PATH']}"}

    def run(self, *words, timeout=240, **environment):
        return subprocess.run(
            words,
            cwd=self.home,
            env={**self.environment, **environment},
            capture_output=True,
            text=True,
            timeout=timeout,
            check=False,
        )

    def start(self, words, **environment):
        return in_process(words, cwd=self.home, env={**self.environment, **environment})


def made_by(binaries, place, name="my-memory"):
    """The project that ``aml new`` makes."""
    project = Project(place / name, binaries)
    words = [str(binaries / "aml"), "new", name]
    ran = subprocess.run(words, cwd=place, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
    return project


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    """A new project in the environment of this one's tests."""
    return made_by(BIN, tmp_path_factory.mktemp("builder"))
