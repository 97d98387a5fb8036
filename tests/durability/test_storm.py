"""``kill -9`` under load loses no acknowledged Add and doubles none."""

import asyncio
from pathlib import Path

import pytest

from tests.durability.storm import Storm

ROOT = Path(__file__).parents[2]
HERE = "tests.durability.systems"


def storm(system, tmp_path, **options):
    made = Storm(system, tmp_path / "data", cwd=ROOT, **options)
    return asyncio.run(made.run())


@pytest.mark.parametrize(
    ("system", "window"),
    [
        ("hybrid", 0.6),
        ("long-context", 0.6),
        pytest.param("mem0", 5.0, marks=pytest.mark.slow),  # imports mem0 and chromadb
        pytest.param("memgpt", 2.0, marks=pytest.mark.slow),  # a tokenizer and an embedder to load
        pytest.param("rag", 3.0, marks=pytest.mark.slow),  # starts in three seconds
    ],
)
def test_memories_survive_ten_kills(tmp_path, system, window):
    counts = storm(system, tmp_path, kills=10, users=8, window=window)
    assert (counts.lost, counts.doubled) == (set(), set())
    assert counts.kills == 10
    assert counts.cut_off > 0, "no kill met an Add: the storm proved nothing"
    assert counts.verified >= counts.acknowledged > 0


def test_a_system_that_appends_survives_by_discard(tmp_path):
    counts = storm(f"{HERE}:Appending", tmp_path, kills=4, window=0.4)
    assert (counts.lost, counts.doubled) == (set(), set())
    assert counts.cut_off > 0


@pytest.mark.parametrize(("system", "harm"), [("Doubling", "doubled"), ("Hasty", "lost")])
def test_the_storm_finds_what_is_wrong(tmp_path, system, harm):
    counts = storm(f"{HERE}:{system}", tmp_path, kills=3, window=0.4)
    assert getattr(counts, harm)
