"""Users are forgotten whole: on demand, by retention, and after a crash in the middle."""

import asyncio
import json
import sqlite3
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from aml_sdk import MemoryLedger, Misconfigured, Settings, SQLiteLedger, Unsupported, create_app
from aml_sdk.identity import short_digest
from aml_sdk.ledger import AddKey, Claim
from tests.sdk.conftest import running
from tests.sdk.systems import Recorded
from tests.servers import eventually

ROOT = Path(__file__).parents[2]
SOON = 0.3  # seconds after which users are forgotten here


class Forgetful(Recorded):
    """Forgets as it is asked to, unless it is told to fail."""

    def __init__(self):
        super().__init__()
        self.broken = False

    def forget(self, user_id):
        self.calls.append(("forget", user_id))
        if self.broken:
            raise Unsupported("not this one")
        self.stored.pop(user_id, None)


@pytest.fixture(params=["memory", "sqlite"])
def ledger(request, tmp_path):
    return MemoryLedger() if request.param == "memory" else SQLiteLedger(tmp_path)


def test_a_ledger_forgets_all_adds_of_a_user_and_nothing_else(ledger):
    async def life():
        await ledger.open()
        for key in (AddKey("u", "1"), AddKey("u", "2"), AddKey("v", "1")):
            await ledger.claim(key, b"d")
        await ledger.complete(AddKey("u", "1"))
        assert await ledger.begin_forgetting("u", "asked") is True
        assert await ledger.begun_forgetting() == ["u"]
        assert await ledger.forget("u") == 2
        assert await ledger.begun_forgetting() == []
        assert await ledger.claim(AddKey("u", "1"), b"other body") is Claim.NEW
        assert await ledger.claim(AddKey("v", "1"), b"d") is Claim.PENDING
        await ledger.close()

    asyncio.run(life())


def test_a_user_is_idle_from_the_last_add_on_and_then_only_is_marked(ledger):
    async def life():
        await ledger.open()
        await ledger.claim(AddKey("u", "1"), b"d")
        assert await ledger.idle_since(1) == []
        assert await ledger.begin_forgetting("u", "retention", idle_since=1) is False
        assert await ledger.idle_since(10**11) == ["u"]
        assert await ledger.begin_forgetting("u", "retention", idle_since=10**11) is True
        assert await ledger.begin_forgetting("new", "retention", idle_since=10**11) is False
        await ledger.close()

    asyncio.run(life())


def test_the_files_of_the_ledger_keep_no_trace_and_the_journal_no_content(tmp_path):
    async def life():
        ledger = SQLiteLedger(tmp_path)
        await ledger.open()
        await ledger.claim(AddKey("user-forgotten", "request-forgotten"), b"digest-forgotten")
        await ledger.claim(AddKey("v", "1"), b"d")
        await ledger.begin_forgetting("user-forgotten", "asked")
        await ledger.forget("user-forgotten")
        files = b"".join(path.read_bytes() for path in tmp_path.iterdir())
        assert b"forgotten" not in files.replace(b"forgotten.jsonl", b"")
        await ledger.close()

    asyncio.run(life())
    (line,) = (tmp_path / "forgotten.jsonl").read_text().splitlines()
    noted = json.loads(line)
    assert set(noted) == {"at", "user", "why", "adds"}
    assert (noted["user"], noted["why"], noted["adds"]) == (
        short_digest("user-forgotten"),
        "asked",
        1,
    )


def test_a_ledger_of_an_older_version_counts_from_now(tmp_path):
    async def life(work):
        ledger = SQLiteLedger(tmp_path)
        await ledger.open()
        await work(ledger)
        await ledger.close()

    asyncio.run(life(lambda ledger: ledger.claim(AddKey("u", "1"), b"d")))
    file = sqlite3.connect(tmp_path / "ledger.sqlite3")
    file.execute("DROP TABLE users")
    file.commit()
    file.close()

    async def look(ledger):
        assert await ledger.idle_since(1_000_000_000) == []
        assert await ledger.idle_since(10**11) == ["u"]

    asyncio.run(life(look))


def test_after_the_retention_a_user_is_gone_and_a_repeat_is_a_new_add(tmp_path):
    system = Forgetful()
    with running(system, ledger=SQLiteLedger(tmp_path), forget_after=SOON) as server:
        server.add("tea", user_id="u")
        eventually(lambda: ("forget", "u") in system.calls)
        eventually((tmp_path / "forgotten.jsonl").exists)
        assert server.contents(user_id="u") == []
        assert server.add("tea", user_id="u").json()["success"] is True
        assert system.calls.count(("add", "u", "r")) == 2
    lines = (tmp_path / "forgotten.jsonl").read_text().splitlines()
    assert json.loads(lines[0])["why"] == "retention"


def test_users_who_add_are_kept_and_none_is_forgotten_by_default():
    system = Forgetful()
    with running(system, forget_after=1_000) as server:
        server.add("tea")
        assert server.contents() == ["tea"]
    with running(system) as server:
        server.add("more", request_id="r2")
    assert not [call for call in system.calls if call[0] == "forget"]


def test_a_user_with_an_add_under_way_is_not_forgotten():
    system = Forgetful()
    system.go.clear()
    with running(system, forget_after=SOON) as server:
        adding = threading.Thread(target=server.add, args=("tea",))
        adding.start()
        system.entered.acquire()
        time.sleep(2 * SOON)
        assert ("forget", "u") not in system.calls
        system.go.set()
        adding.join()
        eventually(lambda: ("forget", "u") in system.calls)
        add, forget = system.calls.index(("add", "u", "r")), system.calls.index(("forget", "u"))
        assert add < forget


def test_what_was_begun_is_finished_before_the_next_add(tmp_path):
    system = Forgetful()
    with running(system, ledger=SQLiteLedger(tmp_path)) as server:
        server.add("tea", user_id="u")

    async def crash():
        ledger = SQLiteLedger(tmp_path)
        await ledger.open()
        await ledger.begin_forgetting("u", "asked")
        await ledger.close()

    asyncio.run(crash())
    system.broken = True
    with running(system, ledger=SQLiteLedger(tmp_path)) as server:
        answer = server.add("coffee", user_id="u", request_id="r2")
        assert answer.status_code == 503
        assert server.add("tea", user_id="v").status_code == 200
        system.broken = False
        assert server.add("coffee", user_id="u", request_id="r2").status_code == 200
        assert server.contents(user_id="u") == ["coffee"]
        assert server.contents(user_id="v") == ["tea"]


def test_a_forgetting_that_a_crash_cut_short_is_finished_at_start_up(tmp_path):
    system = Forgetful()
    system.stored["u"] = [("r", None)]

    async def crash():
        ledger = SQLiteLedger(tmp_path)
        await ledger.open()
        await ledger.begin_forgetting("u", "asked")
        await ledger.close()

    asyncio.run(crash())
    with running(system, ledger=SQLiteLedger(tmp_path)):
        assert system.stored == {}
    assert json.loads((tmp_path / "forgotten.jsonl").read_text())["why"] == "asked"


def test_a_retention_needs_a_system_that_can_forget():
    with pytest.raises(Misconfigured, match="Recorded does not implement forget"):
        create_app(Recorded(), settings=Settings(forget_after=1))
    with pytest.raises(Misconfigured, match="more than 0"):
        Settings(forget_after=0)


def forget(*arguments, cwd):
    return subprocess.run(
        [sys.executable, "-m", "aml_cli.main", "forget", *arguments],
        cwd=cwd,
        capture_output=True,
        text=True,
        check=False,
        env={"PATH": "/usr/bin:/bin", "PYTHONPATH": str(ROOT)},
    )


MINE = """
from pathlib import Path
from aml_sdk import Memory, MemorySystem, Unavailable
class Files(MemorySystem):
    def __init__(self, data_dir): self.dir = data_dir
    def add(self, request): (self.dir / request.user_id).write_text("x")
    def search(self, request): return []
    async def forget(self, user_id): (self.dir / user_id).unlink(missing_ok=True)
class Away(Files):
    async def forget(self, user_id): raise Unavailable("the store is away")
class Never(MemorySystem):
    def add(self, request): ...
    def search(self, request): return []
"""


@pytest.fixture
def project(tmp_path):
    (tmp_path / "mine.py").write_text(MINE)
    data = tmp_path / "data"
    data.mkdir()
    return tmp_path, data


def served(data, *names):
    (data / "systems.txt").write_text("".join(f"{name}\n" for name in names))


def test_aml_forget_removes_a_user_and_says_so_without_the_id(project):
    root, data = project
    served(data, "mine:Files")
    (data / "user-1").write_text("x")
    done = forget("user-1", "--data", data, cwd=root)
    assert done.returncode == 0, done.stderr
    assert not (data / "user-1").exists()
    assert short_digest("user-1") in done.stdout
    assert "user-1" not in done.stdout + (data / "forgotten.jsonl").read_text()


def test_what_aml_forget_cannot_do_it_says_and_what_it_began_it_finishes_later(project):
    root, data = project
    assert forget("u", "--data", data, cwd=root).returncode == 2
    served(data, "mine:Never")
    refused = forget("u", "--data", data, cwd=root)
    assert (refused.returncode, refused.stdout) == (2, "")
    assert "mine:Never does not implement forget" in refused.stderr
    served(data, "mine:Away")
    away = forget("u", "--data", data, cwd=root)
    assert away.returncode == 1
    assert away.stderr == "aml forget: the store is away\n"
    assert not (data / "forgotten.jsonl").exists()
    served(data, "mine:Files")
    assert forget("u", "--data", data, cwd=root).returncode == 0


def test_aml_forget_leaves_a_directory_alone_that_is_served(project):
    root, data = project
    served(data, "mine:Files")
    ledger = SQLiteLedger(data)
    busy = forget("u", "--data", data, cwd=root)
    asyncio.run(ledger.close())
    assert busy.returncode == 2
    assert "in use" in busy.stderr
