import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from aml_contract.smoke import locomo
from tests.docs.pages import programs
from tests.servers import in_process

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
    words = [sys.executable, "-m", "uvicorn", "my_package.main:versioned", "--port", "{port}"]
    with made.start(words) as server:
        made.port = server.port
        yield made


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
        for documented in ("http://127.0.0.1:8080", "https://memory.example"):
            command = command.replace(documented, f"http://127.0.0.1:{self.port}")
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
        """Start a server; ``{port}`` in the words becomes a free port."""
        return in_process(words, cwd=self.home, env=self.environment)
