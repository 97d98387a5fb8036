"""Beside other plugins, in environments of their own, as a builder's are."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.package.conftest import UNREACHABLE
from tests.pytest_plugin.conftest import FEW, Project, command, counts

ROOT = Path(__file__).parents[2]
PLUGINS = {
    "asyncio": "pytest-asyncio",
    "cov": "pytest-cov",
    "randomly": "pytest-randomly",
    "rerunfailures": "pytest-rerunfailures",
    "timeout": "pytest-timeout",
    "xdist": "pytest-xdist",
}
STRICT = (
    "filterwarnings = error",
    "asyncio_mode = auto",
    "asyncio_default_fixture_loop_scope = function",
    "timeout = 2",
    "xfail_strict = true",
)
OWN = """
import asyncio
import random

import pytest


@pytest.fixture(autouse=True)
async def around():
    await asyncio.sleep(0)
    yield


async def test_own():
    await asyncio.sleep(0)


@pytest.mark.parametrize("number", range(3))
def test_numbers(number):
    assert random.random() < 1
"""
CONFTEST = """
def pytest_collection_modifyitems(items):
    for item in items:
        item.add_marker("own")


def pytest_runtest_setup(item):
    assert item.get_closest_marker("own")
"""
LATE = "streaming/after-a-pause"
"""A rule that takes longer than the limit of ``STRICT``."""


def uv(*words):
    done = subprocess.run(
        [sys.executable, "-m", "uv", *words], capture_output=True, text=True, check=False
    )
    if done.returncode and UNREACHABLE.search(done.stderr):
        pytest.skip(f"the package index cannot be reached: {done.stderr.strip()[-200:]}")
    assert done.returncode == 0, done.stderr


@pytest.fixture(
    scope="module",
    params=[
        "pytest",
        *(
            pytest.param(wanted, marks=pytest.mark.slow)
            for wanted in ("pytest<9.2", "pytest<9.1", "pytest==8.4.*")
        ),
    ],
)
def python(request, tmp_path_factory):
    """The interpreter of an environment with this kit, that pytest, and every plugin."""
    where = tmp_path_factory.mktemp("builder") / "venv"
    uv("venv", "--quiet", "--python", sys.executable, str(where))
    made = str(where / "bin" / "python")
    kit = ("--editable", f"{ROOT}[contract]")
    uv("pip", "install", "--quiet", "--python", made, request.param, *kit, *PLUGINS.values())
    return made


@pytest.fixture
def builders(python, tmp_path):
    project = Project(tmp_path, python)
    project.settings(*STRICT, "markers = own: every test")
    project.write("tests/test_own.py", OWN)
    project.write("conftest.py", CONFTEST)
    return project


def test_its_own_tests_run_as_before(builders):
    done = builders.run(light=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert counts(done) == {"passed": 4}


def test_rules_that_take_long_are_beside_a_limit_for_tests(builders):
    done = builders.contract("--aml-cmd", command("lose"), *FEW, "--aml-only", LATE, "tests")
    assert done.returncode == 1, done.stdout + done.stderr
    assert "Timeout" not in done.stdout
    found = counts(done)
    assert found.pop("failed") + found.pop("skipped", 0) == 2
    assert found == {"passed": 5}


def test_everything_at_once(builders):
    done = builders.contract(
        "--aml-cmd", command("lose"), *FEW, "tests",
        "-n", 2, "--reruns", 2, "--cov", "tests", "--maxfail", 9, "--durations", 3, "-v",
    )  # fmt: skip
    assert done.returncode == 1, done.stdout + done.stderr
    assert counts(done) == {"failed": 1, "passed": 5}
    assert "RERUN" not in done.stdout
    workers = set(re.findall(r"\[(gw\d)\].* aml_contract::", done.stdout))
    assert len(workers) == 1
    assert "NONCONFORMANT: 1 of 2 MUST rules failed" in done.stdout
