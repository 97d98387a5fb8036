import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest

from aml_adapters.rag import RagMemory, RagSettings
from aml_contract.endpoint.ports import free_port


@pytest.fixture
def memory(tmp_path):
    opened = RagMemory(tmp_path / "data", RagSettings())
    yield opened
    opened.close()


@contextmanager
def chroma_server(path, port):
    """``chroma run`` until the block ends; gives its URL."""
    command = [Path(sys.executable).with_name("chroma"), "run", "--path", path, "--port", str(port)]
    url = f"http://127.0.0.1:{port}"
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        try:
            until = time.monotonic() + 60
            while not answers(url):
                assert process.poll() is None
                assert time.monotonic() < until
                time.sleep(0.1)
            yield url
        finally:
            process.kill()


def answers(url):
    try:
        return httpx.get(f"{url}/api/v2/heartbeat", trust_env=False).is_success
    except httpx.HTTPError:
        return False


@pytest.fixture
def port():
    return free_port()
