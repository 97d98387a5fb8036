"""Forgetting on each memory of ours: a user goes with all that was derived, and the others stay."""

import json
import subprocess
import sys

import numpy as np
import pytest

from aml_adapters.embedders import choose
from aml_sdk.errors import DataDirectoryBusy
from aml_sdk.identity import backend_key, short_digest
from aml_servers.finding import find_system, make_system
from aml_servers.forgetting import forget, remember
from tests.adapters.serving import USES_MODELS, served
from tests.adapters.talk import FILLER, add, search
from tests.memories import MEMORIES
from tests.servers import eventually

USER = "eval:run:ჯღყ-1"
SECRET = "My cousin wrote წჭხჰ across the whole gate of the garden."
NOTE = "My wrote across whole of garden."
"""What the model of the tests makes of the secret: its every other word."""
# Letters that nothing else here uses, in pairs: an index may keep words in pieces of three.
TRACES = ("ჯღ", "ღყ", "წჭ", "ჭხ", "ხჰ", NOTE, backend_key(USER), f"request-of-{short_digest(USER)}")


def tell_two(server):
    """Two users, of whom one has a secret; both are asked something, so that caches know them."""
    tell(server, USER, f"request-of-{short_digest(USER)}", SECRET, *FILLER)
    for number in range(6):  # so much that Chroma writes its index
        tell(server, "v", f"r{number}", *FILLER * 3)
    for user in (USER, "v"):
        assert "kettle" in " ".join(server.contents(user_id=user))


def tell(server, user, request, *texts):
    assert server.add(*texts, user_id=user, request_id=request).status_code == 200


@pytest.mark.parametrize(
    ("name", "with_models"),
    [*((name, False) for name in MEMORIES), *((name, True) for name in USES_MODELS)],
)
def test_aml_forget_takes_every_row_and_vector_of_a_user(name, with_models, tmp_path, monkeypatch):
    with served(name, tmp_path, monkeypatch, with_models=with_models) as (server, _):
        tell_two(server)
        kept = server.contents(user_id="v")
        derived = with_models and name in ("mem0", "memgpt")
        assert (NOTE in server.contents(user_id=USER)) == derived
        vector = vector_of(SECRET)
    stored = {trace for _, trace in traces(tmp_path, vector)}
    assert ("vector" in stored) == (name in ("mem0", "rag"))  # the others keep it shortened
    assert stored >= {NOTE} if derived else stored
    done = subprocess.run(
        [sys.executable, "-m", "aml_cli.main", "forget", USER, "--data", tmp_path],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert traces(tmp_path, vector) == []
    noted = json.loads((tmp_path / "forgotten.jsonl").read_text())
    assert {key: noted[key] for key in ("user", "why", "adds")} == {
        "user": short_digest(USER),
        "why": "asked",
        "adds": 1,
    }
    with served(name, tmp_path, monkeypatch, with_models=with_models) as (server, _):
        assert server.contents(user_id=USER) == []
        assert server.contents(user_id="v") == kept


@pytest.mark.parametrize("name", MEMORIES)
def test_after_the_retention_nothing_is_left_of_anybody(name, tmp_path, monkeypatch):
    with served(name, tmp_path, monkeypatch, forget_after=10_000) as (server, _):
        tell_two(server)
    with served(name, tmp_path, monkeypatch, forget_after=0.5):
        journal = tmp_path / "forgotten.jsonl"
        eventually(lambda: journal.exists() and len(journal.read_text().splitlines()) == 2)
    assert traces(tmp_path, vector_of(SECRET)) == []


def vector_of(text):
    """Its vector, by the embedder that the environment names."""
    embedder = choose()
    try:
        return embedder.embed([text])[0]
    finally:
        embedder.close()


def traces(directory, vector):
    """In which files something of the user can still be read, free pages included, and what."""
    found = []
    for path in sorted(path for path in directory.rglob("*") if path.is_file()):
        held = path.read_bytes()
        found += [(path.name, each) for each in TRACES if each.encode() in held]
        if holds(held, vector):
            found.append((path.name, "vector"))
    return found


def holds(held, vector):
    """Whether a vector stands in bytes, or one that differs by rounding."""
    most = int(np.abs(vector).argmax())
    for start in range(4):
        numbers = np.frombuffer(held[start : len(held) - (len(held) - start) % 4], np.float32)
        for place in np.flatnonzero(np.isclose(numbers, vector[most], rtol=1e-4)) - most:
            there = numbers[place : place + len(vector)] if place >= 0 else ()
            if len(there) == len(vector) and np.allclose(there, vector, atol=1e-4):
                return True
    return False


def test_nothing_is_forgotten_under_a_server(tmp_path):
    memory = make_system(find_system("hybrid"), tmp_path)
    remember("hybrid", tmp_path)
    add(memory, "u", "r", *FILLER)
    with pytest.raises(DataDirectoryBusy):
        forget("u", tmp_path)
    memory.close()


def test_what_several_memories_served_is_forgotten_in_each(tmp_path):
    for name in ("hybrid", "long-context"):
        memory = make_system(find_system(name), tmp_path)
        for _ in range(2):
            remember(name, tmp_path)
        add(memory, "u", "r", *FILLER)
        memory.close()
    assert (tmp_path / "systems.txt").read_text() == "hybrid\nlong-context\n"
    forget("u", tmp_path)
    for name in ("hybrid", "long-context"):
        memory = make_system(find_system(name), tmp_path)
        assert search(memory, "u", "kettle") == []
        memory.close()
