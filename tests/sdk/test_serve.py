"""``aml serve`` as a user starts it: what it says, when it refuses, how it ends."""

import http.client
import json
import signal
import socket
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from tests.sdk.conftest import add_body
from tests.servers import eventually

ROOT = Path(__file__).parents[2]
SLOW = """
import pathlib, sqlite3, time
from aml_sdk import Memory, MemorySystem
from aml_sdk.content import text_of

class Slow(MemorySystem):
    def __init__(self, data_dir):
        self.file = data_dir / "memory.txt"
        self.begun = data_dir / "begun"

    def add(self, request):
        self.begun.touch()
        time.sleep(1)
        with self.file.open("a") as out:
            out.writelines(text_of(m.content) + "\\n" for m in request.messages)

    def search(self, request):
        lines = self.file.read_text().splitlines() if self.file.exists() else []
        return [Memory(id=str(n), content=line) for n, line in enumerate(lines)]

    def close(self):
        self.file.with_name("closed").touch()

class Unfinished(MemorySystem):
    def add(self, request): ...

class Broken(MemorySystem):
    def __init__(self): raise ValueError("no model")
    def add(self, request): ...
    def search(self, request): ...

class Needs(Broken):
    def __init__(self, data_dir, model, *more, size=3, key, **others): ...
"""


@pytest.fixture
def project(tmp_path):
    (tmp_path / "mine.py").write_text(SLOW)
    (tmp_path / "needy.py").write_text("import surely_not_installed")
    (tmp_path / "faulty.py").write_text("1 / 0")
    return tmp_path


@pytest.fixture
def start(project):
    """Start ``aml serve`` in the project; its process and its first line."""
    begun = []

    def start(*arguments, **environment):
        process = subprocess.Popen(
            [sys.executable, "-m", "aml_cli.main", "serve", *arguments],
            cwd=project,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={"PATH": "/usr/bin:/bin", **environment},
        )
        begun.append(process)
        return process, process.stdout.readline()

    yield start
    for process in begun:
        process.kill()
        process.communicate()


def connect(line):
    host, port = line.split("http://")[1].split(" ")[0].split(":")
    return http.client.HTTPConnection(host, int(port), timeout=20)


def post(connection, path, body, headers=()):
    connection.request("POST", path, json.dumps(body), dict(headers))
    answer = connection.getresponse()
    return answer.status, json.loads(answer.read())


def test_it_says_where_it_serves_and_asks_for_the_key(start, project):
    process, line = start(
        *("mine:Slow", "--port", "0", "--data", "d", "--auth", "token", "--key-env", "MY_KEY"),
        MY_KEY="s3cret",
    )
    assert line.startswith("serving mine:Slow on http://127.0.0.1:")
    assert line.rstrip().endswith(f"(data in {project / 'd'}, auth token)")
    connection = connect(line)
    assert post(connection, "/add", add_body("x"))[0] == 401
    assert post(connection, "/add", add_body("x"), {"Authorization": "Token s3cret"})[0] == 200
    process.terminate()
    _, logged = process.communicate(timeout=30)
    events = [json.loads(row) for row in logged.splitlines()]
    assert [event["status"] for event in events if event["event"] == "add"] == [401, 200]
    assert "s3cret" not in logged


def test_without_data_a_place_of_its_own_is_made(start, project):
    _, line = start("mine:Slow", "--port", "0")
    assert str(project / ".aml" / "mine-Slow") in line
    assert (project / ".aml" / "mine-Slow" / "ledger.sqlite3").exists()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["nonsense"], ["nonsense", "hybrid", "pkg.mod:Class"]),
        (["absent:Class"], ["no module absent"]),
        (["needy:Class"], ["needs the module surely_not_installed"]),
        (["faulty:Class"], ["importing faulty failed", "ZeroDivisionError"]),
        (["mine:Nothing"], ["mine has no Nothing"]),
        (["json:JSONDecoder"], ["no subclass of aml_sdk.MemorySystem"]),
        (["mine:Unfinished"], ["does not implement search"]),
        (["mine:Broken"], ["could not be made", "no model"]),
        (["mine:Needs"], ["asks for model, key;", "defaults", "subclass"]),
        (["mine:Slow", "--auth", "bearer"], ["--key-env"]),
        (["mine:Slow", "--auth", "bearer", "--key-env", "UNSET"], ["UNSET", "unset or empty"]),
        (["mine:Slow", "--auth", "bearer", "--key-env", "EMPTY"], ["EMPTY", "unset or empty"]),
        (["mine:Slow", "--key-env", "UNSET"], ["--auth"]),
        (["mine:Slow", "--data", "mine.py"], ["data directory"]),
    ],
)
def test_what_cannot_be_started_is_said_in_a_line(start, arguments, words):
    process, line = start(*arguments, "--port", "0", EMPTY=" ")
    assert line == ""
    _, said = process.communicate(timeout=30)
    assert process.returncode == 2
    assert said.startswith("aml serve: ")
    assert "Traceback" not in said
    for word in words:
        assert word in said


def test_a_port_in_use_is_said(start):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        process, line = start("mine:Slow", "--port", str(taken.getsockname()[1]))
        _, said = process.communicate(timeout=30)
    assert (line, process.returncode) == ("", 2)
    assert "cannot listen on 127.0.0.1" in said


def test_one_process_owns_a_data_directory(start):
    first, line = start("mine:Slow", "--port", "0", "--data", "d")
    assert line
    second, line = start("mine:Slow", "--port", "0", "--data", "d")
    _, said = second.communicate(timeout=30)
    assert (line, second.returncode) == ("", 2)
    assert "in use" in said
    first.kill()
    first.wait()
    _, line = start("mine:Slow", "--port", "0", "--data", "d")
    assert line.startswith("serving")


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGINT])
def test_a_polite_end_finishes_the_add_under_way(start, project, how):
    process, line = start("mine:Slow", "--port", "0", "--data", "d")
    answers = []
    client = threading.Thread(
        target=lambda: answers.append(post(connect(line), "/add", add_body("kept"))[0])
    )
    client.start()
    eventually((project / "d" / "begun").exists)
    process.send_signal(how)
    client.join(30)
    process.communicate(timeout=30)
    assert answers == [200]
    assert (project / "d" / "closed").exists()
    _, line = start("mine:Slow", "--port", "0", "--data", "d")
    connection = connect(line)
    assert post(connection, "/add", add_body("kept"))[0] == 200
    _, found = post(connection, "/search", {"query": "kept", "user_id": "u", "top_k": 9})
    assert [item["content"] for item in found["data"]] == ["kept"]


def test_an_add_cut_off_by_a_kill_is_stored_by_its_redelivery(start, project):
    process, line = start("mine:Slow", "--port", "0", "--data", "d")
    connection = connect(line)
    connection.request("POST", "/add", json.dumps(add_body("again")))
    eventually((project / "d" / "begun").exists)
    process.kill()
    process.wait()
    with pytest.raises((http.client.HTTPException, OSError)):
        connection.getresponse()
    _, line = start("mine:Slow", "--port", "0", "--data", "d")
    connection = connect(line)
    assert post(connection, "/add", add_body("other"))[0] == 422
    assert post(connection, "/add", add_body("again"))[0] == 200
    _, found = post(connection, "/search", {"query": "again", "user_id": "u", "top_k": 9})
    assert [item["content"] for item in found["data"]] == ["again"]
