"""latency/* and structure/legal-requests, with limits of tenths of a second."""

import asyncio

import pytest

from aml_contract.checking.runner import run_rules
from aml_contract.endpoint.http import open_endpoint
from aml_contract.endpoint.target import Target
from aml_contract.exchange import Exchange
from aml_contract.latency import busy_seconds, latency_of
from aml_contract.outcome import Outcome
from aml_contract.rule import all_rules
from aml_contract.run import Run
from tests.kit.conftest import command
from tests.kit.rules import made

RULES = {rule.name: rule for rule in all_rules()}


def result(name, *switches, before=(), **limits):
    async def main():
        async with open_endpoint(Target(cmd=command(*switches))) as endpoint:
            run = Run(1, "salt", patience=0.01, **limits)
            found = await run_rules(endpoint, [*before, RULES[name]], run)
            return next(one for one in found if one.rule == name)

    return asyncio.run(main())


@pytest.mark.parametrize(
    ("limits", "outcome"),
    [
        ({}, Outcome.PASSED),
        ({"warn_latency": 0.1}, Outcome.WARNED),
        ({"warn_latency": 0.05, "fail_latency": 0.1}, Outcome.FAILED),
    ],
)
def test_slow_adds(limits, outcome):
    found = result("latency/add", "slow", **limits)
    assert found.outcome is outcome
    assert found.figures["count"] >= 5
    assert 0.2 <= found.figures["p50"] <= found.figures["p99"] <= found.figures["max"]
    if outcome is not Outcome.PASSED:
        assert "an Add took" in found.message
        assert "5 of 5" in found.message


def test_slow_adds_say_nothing_about_searches():
    found = result("latency/search", "slow", fail_latency=0.19)
    assert found.outcome is Outcome.PASSED, found.message


def test_a_cold_start_is_noticed():
    assert result("latency/cold-start", "cold", slow_start=0.2).outcome is Outcome.WARNED
    assert result("latency/cold-start", slow_start=0.2).outcome is Outcome.PASSED


def test_what_earlier_rules_sent_is_judged_too():
    async def adds(trial):
        for _ in range(6):
            await trial.add(trial.ns.user(), "hello")

    found = result("latency/add", before=[made(adds, name="t/adds")])
    assert found.figures["count"] == 7
    assert found.requests == 1


def test_refusals_are_one_finding_a_cause():
    async def adds(trial):
        await trial.add(trial.ns.user(), "hello")

    rules = [made(adds, name=f"t/adds-{n}") for n in range(8)]
    found = result("structure/legal-requests", "refuse", before=rules)
    assert found.outcome is Outcome.FAILED
    assert len(found.message.splitlines()) == 1
    assert "8 ordinary Add requests were answered 422" in found.message
    assert "and 3 more" in found.message
    assert len(found.exchanges) == 1


def test_a_server_that_only_asks_to_wait_is_not_blamed():
    found = result("structure/legal-requests", "busy")
    assert found.outcome is Outcome.NOT_TESTED
    assert "too busy" in found.message


def test_a_server_that_dies_is_blamed_with_its_last_words():
    async def adds(trial):
        for _ in range(6):
            await trial.add(trial.ns.user(), "hello")

    found = result("structure/legal-requests", "crash", before=[made(adds, name="t/adds")])
    assert found.outcome is Outcome.FAILED
    assert "exited with 7" in found.message


def test_percentiles():
    found = latency_of([n / 100 for n in range(101)])
    assert (found.p50, found.p95, found.p99, found.max) == (0.5, 0.95, 0.99, 1.0)
    assert latency_of([]) is None
    assert latency_of([2.0]).p99 == 2.0


def test_time_at_work_counts_overlaps_once():
    def exchange(started, seconds):
        return Exchange("add", "POST", "u", {}, b"", 200, {}, b"", seconds, started)

    assert busy_seconds([exchange(0, 2), exchange(1, 2), exchange(10, 1)]) == 4
    assert busy_seconds([exchange(0, 9), exchange(1, 1)]) == 9
    assert busy_seconds([]) == 0
