"""Every fault shows in the columns meant for it, beyond the interval of the healthy twin."""

from functools import cache

import pytest

from aml_contract.probe.contents import of_contents
from aml_contract.probe.controls import BM25
from aml_contract.probe.metrics import at_depth
from tests.probe import faulty
from tests.probe.courses import course, world

WORSE_BELOW = {"visible", "event_time", "hit"}
"""Columns in which less is worse."""


@cache
def figures(memory):
    """All figures among ten items of direct questions, and those of contents."""
    place = world()
    record = course(place, memory(place))
    return at_depth(place, record, "direct", 10).figures() | of_contents(place, record).figures()


@pytest.mark.parametrize(
    ("memory", "columns"),
    [
        (faulty.Drops, ["visible", "write"]),
        (faulty.Forgets, ["lost"]),
        (faulty.IndexesLate, ["visible", "late"]),
        (faulty.Shares, ["leak"]),
        (faulty.Trims, ["visible", "write"]),
        (faulty.IngestionTime, ["event_time"]),
        (faulty.Folds, ["visible", "write"]),
        (faulty.Summarises, ["stale_first", "resolved_wrong"]),
    ],
)
def test_a_fault_shows_where_it_should(memory, columns):
    twin, wrong = figures(BM25), figures(memory)
    for column in columns:
        if column in WORSE_BELOW:
            assert wrong[column].value < twin[column].low, column
        else:
            assert wrong[column].value > twin[column].high, column


def test_the_twin_has_none_of_these_faults():
    twin = figures(BM25)
    assert {name: twin[name].value for name in ("visible", "event_time", "dated")} == {
        "visible": 1.0,
        "event_time": 1.0,
        "dated": 1.0,
    }
    for column in ("leak", "write", "late", "lost", "fabrication"):
        assert twin[column].value == 0.0, column


@pytest.mark.parametrize("memory", [BM25, faulty.Drops, faulty.Forgets, faulty.IndexesLate])
def test_stage_shares_sum_to_one(memory):
    stages = ("ok", "resolved_wrong", "crowded", "lost", "late", "write")
    assert sum(figures(memory)[stage].value for stage in stages) == pytest.approx(1, abs=0.001)
