import asyncio
from itertools import combinations

import pytest

from aml_contract.probe.chance import band, hit
from aml_contract.probe.controls import CONTROLS, TOKENISERS, control
from aml_contract.probe.guard import Guarded, NotTrustedError, check_controls
from aml_contract.probe.metrics import at_depth
from tests.probe.courses import course, world


@pytest.mark.parametrize("seed", range(10))
def test_controls_hold(seed):
    of = world(seed=seed, users=1)
    records = {name: course(of, control(name, of), ("direct",)) for name in ("oracle", "random")}
    check_controls(of, records, ["direct"])


@pytest.mark.parametrize("code", TOKENISERS)
def test_controls_are_what_they_should_be(code):
    of = world(code=code, users=1)
    found = {}
    for name in CONTROLS:
        record = course(of, control(name, of), ("direct", "advice", "joint"))
        for mode in ("direct", "advice", "joint"):
            found[name, mode] = {
                metric: figure.value
                for metric, figure in at_depth(of, record, mode, 10).figures().items()
            }
    for mode in ("direct", "advice", "joint"):
        assert found["oracle", mode]["stale_exposed"] == 0
        assert found["oracle", mode]["ok"] == 1
    assert found["bm25", "direct"]["hit"] > 0.6 > 0.3 > found["bm25", "advice"]["hit"]
    assert found["recency", "direct"] == found["recency", "advice"]
    assert found["random", "direct"]["hit"] < 0.3


def test_an_oracle_that_errs_is_not_trusted():
    of = world(users=1)
    records = {name: course(of, control("recency", of)) for name in ("oracle", "random")}
    with pytest.raises(NotTrustedError, match="the oracle's hit is 0"):
        check_controls(of, records, ["direct"])


def test_chance_that_finds_too_much_is_not_trusted():
    of = world(users=1)
    oracle = course(of, control("oracle", of))
    with pytest.raises(NotTrustedError, match="chance found 100 values among 10 items"):
        check_controls(of, {"oracle": oracle, "random": oracle}, ["direct"])


@pytest.mark.parametrize("label", ["slot=gym", "[current: Halmere]", "gym=Halmere", "value_3: x"])
def test_no_label_is_sent(label):
    of = world(users=1)
    memory = control("recency", of)
    body = {
        "request_id": "r",
        "user_id": "u",
        "session_id": "s",
        "messages": [{"role": "user", "content": f"Nice day. {label}", "timestamp": 0}],
    }
    with pytest.raises(NotTrustedError, match="an Add holds the label"):
        asyncio.run(Guarded(memory).add(body))
    assert asyncio.run(memory.search({"query": "day", "user_id": "u", "top_k": 9})) == []


def test_the_chance_of_a_hit_is_that_of_counting():
    for messages, mentioning, k in ((5, 2, 2), (6, 1, 3), (4, 4, 1), (7, 3, 6)):
        draws = list(combinations(range(messages), k))
        counted = sum(min(draw) < mentioning for draw in draws) / len(draws)
        assert hit(messages, mentioning, k) == pytest.approx(counted)
    assert hit(5, 1, 100) == 1


def test_the_band_holds_what_it_promises():
    low, high = band([0.5] * 100, 0.95)
    assert (low, high) == (40, 60)
    assert band([1.0] * 7) == (7, 7)
    assert band([0.0] * 7) == (0, 0)
