import contextlib
import json
import os
import shlex
import signal
import socket
import subprocess
import sys
import urllib.request
from pathlib import Path

import pytest

from aml_contract.checking.events import read_events
from tests.servers import eventually, in_process

ROOT = Path(__file__).parents[2]
SUBJECT = Path(__file__).with_name("subject.py")


def command(*switches):
    """The shell command that starts a subject."""
    words = [sys.executable, str(SUBJECT), "--port", "{port}", *switches]
    return "exec " + " ".join(w if w == "{port}" else shlex.quote(w) for w in words)


class Served:
    def __init__(self, url):
        self.url = url

    def stats(self):
        with urllib.request.urlopen(f"{self.url}/stats") as answer:
            return json.load(answer)


@pytest.fixture
def serve():
    """Starts subjects on ports of their own; they are gone after the test."""
    with contextlib.ExitStack() as stack:

        def start(*switches, **environment):
            words = shlex.split(command(*switches).removeprefix("exec "))
            how = {"env": {**os.environ, **environment}, "stdout": subprocess.DEVNULL}
            return Served(stack.enter_context(in_process(words, **how)).url)

        yield start


@pytest.fixture
def aml(tmp_path):
    """Runs ``aml`` in an empty directory; the finished process."""

    def run(*arguments, **environment):
        return subprocess.run(
            [sys.executable, "-m", "aml_cli.main", *map(str, arguments)],
            cwd=tmp_path,
            env={**os.environ, "COLUMNS": "120", **environment},
            capture_output=True,
            text=True,
            check=False,
            timeout=120,
        )

    return run


@pytest.fixture
def aml_started(tmp_path):
    """Starts ``aml`` in an empty directory, output to a file; killed after the test."""
    started = []

    def start(*arguments):
        output = (tmp_path / "output").open("wb")
        child = subprocess.Popen(
            [sys.executable, "-m", "aml_cli.main", *map(str, arguments)],
            cwd=tmp_path,
            env={**os.environ, "COLUMNS": "120"},
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        started.append((child, output))
        return child

    yield start
    for child, output in started:
        if child.poll() is None:
            os.killpg(child.pid, signal.SIGKILL)
            child.wait()
        output.close()


def events_of(directory):
    """The events file of the only run in ``directory``, once it is there."""
    pattern = ".aml/runs/*/events.jsonl"
    eventually(lambda: any(directory.glob(pattern)))
    (found,) = directory.glob(pattern)
    return found


def assert_no_server(events):
    """The server of a run is gone: its port refuses connections."""
    ready = [event for event in read_events(events) if event["event"] == "endpoint_ready"]
    assert ready
    for event in ready:
        port = int(event["endpoint"]["add_url"].split(":")[2].split("/")[0])
        with socket.socket() as probe:
            assert probe.connect_ex(("127.0.0.1", port)) != 0
