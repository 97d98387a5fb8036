"""Messages as builders read them, compared with plain files.

``pytest tests/messages --snapshot-update`` writes ``__snapshots__/`` anew: read every line of the
difference as somebody would at two in the morning.
"""

import contextlib
import os
import re
import socket
import subprocess
import sys
import threading

import pytest
import trustme
from syrupy.extensions.single_file import SingleFileSnapshotExtension, WriteMode

from tests.kit.conftest import ROOT, aml_started, serve  # noqa: F401  fixtures

_PYTHON = re.escape(sys.executable)
_CHANGING = (
    (rf"'?{_PYTHON}'?", "python"),
    (r"127\.0\.0\.1:\d{4,5}", "127.0.0.1:PORT"),
    (r"localhost:\d{4,5}", "localhost:PORT"),
    (r"(--port|port|own choice,) \d{4,5}\b", r"\1 PORT"),
    (r"\('127\.0\.0\.1', \d+\)", "('127.0.0.1', PORT)"),
    (r"'\[::1\]', \d+", "'[::1]', PORT"),
    (r"\d{8}T\d{6}-[0-9a-f]{6}", "RUN"),
    (r"\(_ssl\.c:\d+\)", "(_ssl.c)"),
    (r"# \d{4,5}\b", "# PORT"),
    (r"/tmp/aml-\w+", "/tmp/aml-DIR"),
    (re.escape(str(ROOT)), "PROJECT"),
)


class PlainFiles(SingleFileSnapshotExtension):
    """One text file a message."""

    _write_mode = WriteMode.TEXT
    file_extension = "txt"


@pytest.fixture
def snapshot(snapshot):
    """Compares with a file of the test's name: ``assert str(found) == snapshot``."""
    return snapshot.use_extension(PlainFiles)


@pytest.fixture
def said(tmp_path):
    """Runs ``aml`` and gives its exit code and what it said, without what changes each time."""

    def run(*arguments, unset=(), out=None, **environment):
        clean = {k: v for k, v in os.environ.items() if "proxy" not in k.lower() and k not in unset}
        done = subprocess.run(
            [sys.executable, "-m", "aml_cli.main", *map(str, arguments)],
            cwd=tmp_path,
            env={**clean, "COLUMNS": "100", "PYTHONUNBUFFERED": "1", **environment},
            stdin=subprocess.DEVNULL,
            stdout=out or subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
            timeout=200,
        )
        return Said(done.returncode, done.stdout or "", done.stderr, tmp_path)

    return run


class Said:
    """What a command said; as a text, its exit code and standard error."""

    def __init__(self, code, out, err, home):
        self.code = code
        self.out = out
        self.err = err
        self._home = home

    def __str__(self):
        return steady(f"exit code {self.code}\n{self.err}", self._home)

    @property
    def finding(self):
        """The exit code and the first finding: what is wrong, and what to do."""
        (_, _, text) = self.out.partition("✗ failed ")
        text, _, _ = text.partition("\n  curl")
        return steady(f"exit code {self.code}\n{text.rstrip()}\n", self._home)


def steady(text, home):
    """A text without what is another at each run, and no traceback in it."""
    assert "Traceback" not in text
    assert "error of aml itself" not in text
    text = text.replace(str(home), "HOME")
    for pattern, words in _CHANGING:
        text = re.sub(pattern, words, text)
    return "\n".join(line.rstrip() for line in text.splitlines()) + "\n"


@pytest.fixture
def listener():
    """Serves connections with a function, on a port of its own, until the test ends."""
    with contextlib.ExitStack() as stack:

        def start(answer, family=socket.AF_INET, host="127.0.0.1"):
            made = stack.enter_context(socket.create_server((host, 0), family=family, backlog=64))

            def accept():
                with contextlib.suppress(OSError):
                    while True:
                        answer(made.accept()[0])

            threading.Thread(target=accept, daemon=True).start()
            stack.callback(made.close)
            return made.getsockname()[1]

        yield start


@pytest.fixture
def closed_port():
    """A port at which nothing listens, held so that nobody else takes it."""
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        yield held.getsockname()[1]


@pytest.fixture
def certified(tmp_path):
    """Makes uvicorn's options for TLS with a certificate of an own authority, ``ca.pem``."""
    authority = trustme.CA()
    authority.cert_pem.write_to_path(tmp_path / "ca.pem")

    def made(*names, **times):
        certificate = authority.issue_cert(*names, **times)
        files = {"ssl_certfile": tmp_path / "cert.pem", "ssl_keyfile": tmp_path / "key.pem"}
        for blob in certificate.cert_chain_pems:
            blob.write_to_path(files["ssl_certfile"], append=True)
        certificate.private_key_pem.write_to_path(files["ssl_keyfile"])
        return {option: str(path) for option, path in files.items()}

    return made
