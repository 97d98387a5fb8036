"""Another project's tests, which know nothing of the kit, beside it."""

import subprocess
import sys

import pytest

from tests.broken.serving import managed

_CONFTEST = """
import pytest

def pytest_addoption(parser):
    parser.addoption("--url")
    parser.addoption("--target")

@pytest.fixture
def anyio_backend():
    return "asyncio"

@pytest.fixture
def client():
    return "their client"

@pytest.fixture
def server(request):
    return request.config.getoption("--url")

@pytest.fixture
def endpoint(server):
    return server + "/theirs"
"""
_TESTS = """
import asyncio
import pytest

pytestmark = pytest.mark.filterwarnings("error")

def test_fixtures(client, endpoint):
    assert (client, endpoint) == ("their client", "http://theirs/theirs")

@pytest.mark.anyio
async def test_asynchronous(server):
    await asyncio.sleep(0)
    assert server == "http://theirs"
"""


@pytest.mark.parametrize("workers", [[], ["-n", "2"]], ids=["alone", "xdist"])
@pytest.mark.parametrize("kit", [False, True], ids=["without", "with"])
def test_a_foreign_suite_is_left_alone(tmp_path, workers, kit):
    (tmp_path / "conftest.py").write_text(_CONFTEST)
    (tmp_path / "test_theirs.py").write_text(_TESTS)
    ours = ["--aml-contract", "--aml-cmd", managed("Correct")["cmd"]] if kit else []
    chosen = ["--aml-only", "visibility/immediate", "test_theirs.py"] if kit else []
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "--url", "http://theirs", *workers, *ours, *chosen],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
        timeout=240,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"{2 + kit} passed" in done.stdout, done.stdout
    assert ("CONFORMANT" in done.stdout) == kit
