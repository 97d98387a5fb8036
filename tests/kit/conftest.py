import json
import os
import shlex
import signal
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

import pytest

from aml_contract.endpoint.process import free_port

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
    children = []

    def start(*switches, **environment):
        port = free_port()
        words = shlex.split(command(*switches).replace("{port}", str(port)).removeprefix("exec "))
        children.append(
            subprocess.Popen(words, env={**os.environ, **environment}, stdout=subprocess.DEVNULL)
        )
        served = Served(f"http://127.0.0.1:{port}")
        for _ in range(500):
            try:
                served.stats()
            except OSError:
                time.sleep(0.02)
            else:
                return served
        raise AssertionError("the subject did not start")

    yield start
    for child in children:
        child.kill()
        child.wait()


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
    for _ in range(1000):
        found = list(directory.glob(".aml/runs/*/events.jsonl"))
        if found:
            return found[0]
        time.sleep(0.02)
    raise AssertionError("no events appeared")


def wait_for(condition):
    for _ in range(1500):
        if condition():
            return
        time.sleep(0.02)
    raise AssertionError("it did not happen")
