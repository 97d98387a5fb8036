import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import httpx
import pytest

from aml_contract.endpoint.process import free_port
from aml_contract.smoke import locomo
from tests.docs.pages import programs

BIN = Path(sys.executable).parent
MAIN = """
from pathlib import Path

from aml_sdk import create_app
from my_memory import MyMemory

Path("app-data").mkdir(exist_ok=True)
app = create_app(MyMemory(Path("app-data")))


class Versioned:
    # The documentation's /v1/add is the same endpoint.
    async def __call__(self, scope, receive, send):
        scope = {**scope, "path": scope.get("path", "").removeprefix("/v1")}
        await app(scope, receive, send)


versioned = Versioned()
"""


@pytest.fixture(scope="session")
def reader(tmp_path_factory):
    """A directory in which a reader has done what the documentation says, and a server."""
    home = tmp_path_factory.mktemp("reader")
    for name, text in programs().items():
        (home / name).write_text(text)
    package = home / "my_package"
    package.mkdir()
    (package / "__init__.py").touch()
    shutil.copy(home / "my_memory.py", package / "memory.py")
    (package / "main.py").write_text(MAIN)
    (home / "bin").mkdir()
    own = home / "bin" / "my-server"
    own.write_text('#!/bin/sh\nexec aml serve my_memory:MyMemory "$@"\n')
    own.chmod(0o755)
    shutil.copy(locomo.shipped(), home / "locomo10.json")
    made = Reader(home)
    server = made.start([sys.executable, "-m", "uvicorn", "my_package.main:versioned", "--port"])
    made.port = server.port
    yield made
    server.stop()


class Reader:
    def __init__(self, home):
        self.home = home
        self.port = None
        self.environment = {
            **os.environ,
            "PATH": f"{home / 'bin'}:{BIN}:{os.environ['PATH']}",
            "PYTHONPATH": str(home),
            "MY_KEY": "k-documentation",
        }

    def run(self, command):
        """Run a documented command, its endpoint replaced by the running one."""
        command = command.replace("127.0.0.1:8080", f"127.0.0.1:{self.port}")
        return subprocess.run(
            command,
            shell=True,
            cwd=self.home,
            env=self.environment,
            capture_output=True,
            text=True,
            timeout=240,
            check=False,
        )

    def start(self, words):
        """Start a server on a free port, which is appended to the words."""
        return Server(words, self)


class Server:
    def __init__(self, words, reader):
        self.port = free_port()
        self.child = subprocess.Popen(
            [*words, str(self.port)], cwd=reader.home, env=reader.environment
        )
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline:
            try:
                httpx.get(f"http://127.0.0.1:{self.port}/health", trust_env=False)
            except httpx.TransportError:
                assert self.child.poll() is None, "the server ended"
                time.sleep(0.05)
            else:
                return
        pytest.fail("the server did not answer")

    def stop(self):
        """Stop it politely; its exit code."""
        self.child.send_signal(signal.SIGTERM)
        return self.child.wait(timeout=60)
