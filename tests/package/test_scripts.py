"""How the scripts make their environment, and what they say when they cannot."""

import os
import re
import shutil
import subprocess

import pytest

from tests.package.conftest import ROOT

FINE = "#!/bin/sh\nexit 0\n"
TOO_OLD = "#!/bin/sh\nexit 1\n"
WITHOUT_VENV = '#!/bin/sh\ncase "$*" in *venv*) exit 1;; *) echo "Python 3.12.0";; esac\n'


@pytest.fixture
def checkout(tmp_path):
    """A checkout with what the environment is made from, in a directory with a space."""
    root = tmp_path / "a checkout"
    (root / "scripts").mkdir(parents=True)
    shutil.copytree(ROOT / "scripts/lib", root / "scripts/lib")
    for name in ("pyproject.toml", "requirements.lock"):
        shutil.copy(ROOT / name, root / name)
    return root


def bash(checkout, command, python):
    """Run ``command`` after venv.sh, where every Python is the given program."""
    tools = checkout.parent / "tools"
    tools.mkdir(exist_ok=True)
    for name in ("python", "python3", "python3.11", "python3.12", "python3.13"):
        (tools / name).write_text(python)
        (tools / name).chmod(0o755)
    return subprocess.run(
        ["bash", "-euo", "pipefail", "-c", f". scripts/lib/venv.sh\n{command}"],
        cwd=checkout,
        env={"PATH": f"{tools}:/usr/bin:/bin", "HOME": str(checkout.parent)},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def test_an_old_python_is_not_taken(checkout):
    ran = bash(checkout, "aml_venv", TOO_OLD)
    assert ran.returncode == 3
    assert "no Python 3.11 or newer was found" in ran.stderr


def test_a_python_without_venv_is_explained(checkout):
    ran = bash(checkout, "aml_venv", WITHOUT_VENV)
    assert ran.returncode == 3
    assert "apt install python3-venv" in ran.stderr


def test_uv_is_installed_with_its_hashes(checkout):
    lines = bash(checkout, "aml_locked uv", FINE).stdout.splitlines()
    assert re.match(r"uv==[\d.]+ \\$", lines[0])
    assert len(lines) > 1
    assert all(re.match(r" +--hash=sha256:[0-9a-f]{64}", line) for line in lines[1:])


def test_the_second_start_installs_nothing_until_the_lock_changes(checkout):
    (checkout / ".venv").mkdir()
    first = bash(checkout, 'aml_stamp >"$aml_stamp_file"; aml_venv; echo ready', TOO_OLD)
    assert (first.returncode, first.stdout, first.stderr) == (0, "ready\n", "")
    with (checkout / "requirements.lock").open("a") as lock:
        lock.write("# changed\n")
    second = bash(checkout, "aml_venv", TOO_OLD)
    assert second.returncode == 3


def test_settings_of_pip_count_for_uv(checkout):
    command = "PIP_INDEX_URL=https://index.example/simple; aml_uv_settings; env"
    assert "UV_DEFAULT_INDEX=https://index.example/simple" in bash(checkout, command, FINE).stdout
    own = f"export UV_DEFAULT_INDEX=https://own.example; {command}"
    assert "UV_DEFAULT_INDEX=https://own.example" in bash(checkout, own, FINE).stdout


@pytest.mark.parametrize("name", ["check", "test", "lock", "generate", "bettermemory"])
def test_scripts_can_be_run(name):
    script = ROOT / "scripts" / name
    assert os.access(script, os.X_OK)
    assert script.read_text().startswith("#!/usr/bin/env bash\n")
    assert subprocess.run(["bash", "-n", script], check=False).returncode == 0
