import sqlite3
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest

from aml_adapters.mem0 import Mem0Memory
from aml_adapters.sqlite_file import IncompatibleDataError
from aml_sdk._gen.models import AddRequest, Message, TextPart
from aml_sdk.errors import DataDirectoryBusy, Misconfigured, Unavailable
from aml_sdk.identity import memory_id
from aml_sdk.providers import ProviderSettings
from tests.adapters.talk import DAY, FILLER, add, contents, search


@pytest.mark.parametrize(
    "text",
    [
        "  indented\n\n\tand trailing  \n",
        "left\x00right",
        "e\u0301 \u202eright to left\u202c 👨‍👩‍👧 ＡＢ",
        "def f(x):\n    return x  # ünïcode\r\n",
    ],
)
def test_texts_come_back_code_point_for_code_point(memory, text):
    add(memory, "u", "r", text)
    assert contents(search(memory, "u", "anything")) == [text]


def test_every_role_is_kept_and_blank_turns_are_not(memory):
    said = ("system", "rules"), ("user", " "), ("tool", "a result"), ("用户", "你好")
    messages = [Message(role=role, content=text) for role, text in said]
    messages.append(Message(role="user", content=[TextPart(type="text", text="part")]))
    memory.add(AddRequest(user_id="u", request_id="r", session_id="s", messages=messages))
    found = {each.id: each.content for each in search(memory, "u", "rules")}
    assert found == {
        memory_id("u", "r", position): text
        for position, text in ((0, "rules"), (2, "a result"), (3, "你好"), (4, "part"))
    }


@pytest.mark.parametrize(
    "user", ["*", "a", " a", "a b", "\ta\n", "a\x00", "A", "\u00e4", "a\u0308"]
)
def test_ids_that_mem0_would_confuse_stay_apart(memory, user):
    everyone = ["*", "a", " a", "a b", "\ta\n", "a\x00", "A", "\u00e4", "a\u0308"]
    for each in everyone:
        add(memory, each, "r", f"the note of {each!r}")
    assert contents(search(memory, user, "note")) == [f"the note of {user!r}"]


def test_everything_of_a_user_comes_back_when_top_k_allows(memory):
    add(memory, "u", "r", *(f"note {number} on nothing in particular" for number in range(150)))
    for number in range(3):
        add(memory, f"other {number}", "r", *["the same words"] * 40)
    assert len(search(memory, "u", "completely unrelated", top_k=1_000)) == 150
    assert len(search(memory, "u", "completely unrelated", top_k=7)) == 7
    assert len(search(memory, "other 1", "x", top_k=2**31 - 1)) == 40
    assert search(memory, "nobody", "note") == []
    assert search(memory, "u", " \n") == []


def test_the_nearest_is_first_and_scores_fall(memory):
    add(memory, "u", "r", *FILLER, "My bicycle was stolen in Utrecht.")
    found = search(memory, "u", "Where was the bike stolen?")
    assert found[0].content == "My bicycle was stolen in Utrecht."
    scores = [each.score for each in found]
    assert scores == sorted(scores, reverse=True)


def test_others_change_neither_order_nor_scores(memory):
    add(memory, "u", "r", *FILLER, *["twice the same"] * 2)
    before = search(memory, "u", "a song in the rain")
    for number in range(20):
        add(memory, f"other {number}", "r", *FILLER[:3], "a song in the rain")
    assert search(memory, "u", "a song in the rain") == before


def test_created_at_is_the_time_of_the_message_or_missing(memory):
    add(memory, "u", "r", "dated", start=DAY)
    add(memory, "u", "r2", "undated")
    add(memory, "u", "r3", "far", start=2**62)
    times = {each.content: each.created_at for each in search(memory, "u", "x")}
    assert times == {"dated": "1970-01-02T00:00:00+00:00", "undated": None, "far": None}


def test_everything_survives_a_restart(tmp_path, memory):
    add(memory, "u", "r", *FILLER, *["twice the same"] * 2)
    before = search(memory, "u", "piano")
    memory.close()
    reopened = Mem0Memory(tmp_path / "data", ProviderSettings())
    assert search(reopened, "u", "piano") == before
    reopened.close()


def test_an_acknowledged_add_survives_being_killed(tmp_path):
    program = f"""
import os, pathlib
from aml_adapters.mem0 import Mem0Memory
from tests.adapters.talk import add
memory = Mem0Memory(pathlib.Path({str(tmp_path)!r}))
add(memory, "u", "r", "kept", "both")
os.kill(os.getpid(), 9)
"""
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == -9
    memory = Mem0Memory(tmp_path, ProviderSettings())
    assert sorted(contents(search(memory, "u", "x"))) == ["both", "kept"]
    memory.close()


def test_discard_removes_one_request_of_one_user(memory):
    for user in ("u", "v"):
        for request in ("r", " r", "*"):
            add(memory, user, request, f"{request!r} of {user}")
    search(memory, "u", "of")
    memory.discard("u", "r")
    memory.discard("u", "never seen")
    assert sorted(contents(search(memory, "u", "of"))) == ["' r' of u", "'*' of u"]
    assert len(search(memory, "v", "of")) == 3
    add(memory, "u", "r", "again")
    assert "again" in contents(search(memory, "u", "of"))


def test_forgetting_leaves_no_row_and_no_line_of_history(tmp_path, memory):
    add(memory, "u", "r", "a secret of mine")
    add(memory, "v", "r", "a pebble of yours")
    memory.forget("u")
    memory.forget("nobody")
    assert search(memory, "u", "secret") == []
    assert contents(search(memory, "v", "pebble")) == ["a pebble of yours"]
    memory.close()
    for name in ("history.sqlite3", "chroma/chroma.sqlite3"):
        told = "\n".join(sqlite3.connect(tmp_path / "data" / "mem0" / name).iterdump())
        assert "secret" not in told
        assert "pebble" in told


def test_many_threads_lose_nothing(memory):
    def work(number):
        for round_ in range(3):
            add(memory, f"user {number}", f"r{round_}", f"note {round_}", "and more")
            assert len(search(memory, f"user {number}", "note")) == 2 * (round_ + 1)

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(work, range(16)))


def test_a_directory_has_one_owner_and_one_embedder(tmp_path, memory, provider):
    with pytest.raises(DataDirectoryBusy):
        Mem0Memory(tmp_path / "data", ProviderSettings())
    memory.close()
    with pytest.raises(IncompatibleDataError, match="embedder"):
        Mem0Memory(tmp_path / "data", provider.settings(llm=False))


def test_health_and_trouble_of_the_store(memory, monkeypatch):
    assert memory.health()

    def fails(**_):
        raise sqlite3.OperationalError("database or disk is full")

    collection = memory._store._collection
    for name in ("add", "get", "count"):
        monkeypatch.setattr(type(collection), name, lambda self, **_: fails())
    assert not memory.health()
    with pytest.raises(Unavailable):
        add(memory, "u", "r", "x")
    with pytest.raises(Unavailable):
        search(memory, "u", "x")


@pytest.mark.parametrize("found", ["0.1.115", "1.0.11", "2.1.9", "3.0.0"])
def test_other_versions_are_refused_with_words(tmp_path, monkeypatch, found):
    monkeypatch.setattr("aml_adapters.mem0.library.version", lambda name: found)
    with pytest.raises(Misconfigured, match=rf"mem0ai {found} is installed.*aml-contract\[mem0\]"):
        Mem0Memory(tmp_path, ProviderSettings())
    assert list(tmp_path.iterdir()) == []


def test_nothing_is_looked_up_or_written_elsewhere(tmp_path):
    """In a process of its own, with a home of its own, and no way to the network."""
    program = f"""
import pathlib, socket

def refuse(*arguments, **more):
    raise SystemExit(f"looked up {{arguments}}")

socket.getaddrinfo = socket.socket.connect = refuse
from aml_adapters.mem0 import Mem0Memory
from tests.adapters.talk import add, search
memory = Mem0Memory(pathlib.Path({str(tmp_path / "data")!r}))
add(memory, "u", "r", "yesterday I moved to Oslo", start=0)
assert len(search(memory, "u", "when did I move?")) == 1
memory.forget("u")
memory.close()
"""
    home = tmp_path / "home"
    home.mkdir()
    environment = {"HOME": str(home), "PYTHONPATH": ":".join(filter(None, sys.path))}
    done = subprocess.run(
        [sys.executable, "-c", program],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert list(home.iterdir()) == []
