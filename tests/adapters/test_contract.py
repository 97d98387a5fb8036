"""The reference memories under the kit's rules, as processes that it kills.

What they must keep is tried in the fast lane, everything under ``scripts/test --all``. Hybrid is
tried whole in the fast lane: here what text and an open server do not show, the rest among the
healthy makes.
"""

import asyncio
import json
import subprocess
import sys
import time
from dataclasses import replace

import pytest

from aml_contract.checking.runner import run_rules
from aml_contract.endpoint.http import open_endpoint
from aml_contract.matrix.entry import KEY, KEY_VARIABLE
from aml_contract.outcome import Level, Outcome
from aml_contract.rule import Capability, Need, all_rules
from aml_servers.finding import find_system
from tests.adapters.models import away_while, takes_notes
from tests.healthy.makes import memory
from tests.memories import MEMORIES
from tests.providers.fake_openai import fake_provider

EXPECTED = {
    "long-context": {"order/exact-first": "S5: its order looks at no question"},
}
"""The findings that are true: what a memory cannot do, as its page says."""
FUZZ_BUDGET = 4.0
"""Seconds of generated requests."""
MAY_BE_UNTESTED = {"load/growth"}  # where Adds are slow
MUST = [rule for rule in all_rules() if rule.level is Level.MUST]
OTHERS = [name for name in MEMORIES if name != "hybrid"]

pytestmark = pytest.mark.timeout(3600)  # on cores that other tests may share


def judged(entry, rules):
    """What is found on it; every other rule has passed, or cannot apply to it."""
    run = entry.run(1, str(time.time_ns()), FUZZ_BUDGET)
    target = replace(entry.target(), start_timeout=300)

    async def go():
        async with open_endpoint(target) as endpoint:
            return await run_rules(endpoint, rules, run)

    def cannot_apply(rule):
        return (
            bool(rule.capabilities - run.capabilities)
            or (Need.FAULT in rule.needs and target.fault_cmd is None)
            or (rule.name == "fidelity/trajectory" and run.track != "coding")
            or (rule.name == "media/text-only-refuses" and Capability.IMAGES in run.capabilities)
        )

    results = {result.rule: result for result in asyncio.run(go())}
    inapplicable = {name for name, one in results.items() if one.outcome is Outcome.NOT_APPLICABLE}
    assert inapplicable == {rule.name for rule in rules if cannot_apply(rule)}
    return {
        name: f"{one.outcome}: {one.message}"
        for name, one in results.items()
        if one.outcome not in (Outcome.PASSED, Outcome.NOT_APPLICABLE)
        and not (one.outcome is Outcome.NOT_TESTED and name in MAY_BE_UNTESTED)
    }


def asking(*capabilities):
    """The rules that ask for one of them."""
    return [rule for rule in all_rules() if rule.capabilities & set(capabilities)]


@pytest.mark.parametrize(
    ("track", "rules"),
    [
        ("multimodal", asking(Capability.IMAGES, Capability.AUTH)),
        ("coding", [rule for rule in all_rules() if rule.name == "fidelity/trajectory"]),
    ],
    ids=["images and keys", "code"],
)
def test_hybrid_keeps_what_is_asked_on_other_tracks(track, rules, monkeypatch):
    monkeypatch.setenv(KEY_VARIABLE, KEY)
    assert judged(memory("hybrid", track=track, auth="bearer"), rules) == {}


@pytest.mark.slow
@pytest.mark.parametrize("name", OTHERS)
def test_a_memory_that_declines_images_is_said_to(name, tmp_path):
    """The report tells what a memory cannot do, and that it refuses it."""
    assert not find_system(name).images
    report = tmp_path / "report.json"
    words = [sys.executable, "-m", "aml_cli.main", "check", "--system", name, "--json", report]
    words += ["--track", "multimodal", "--without", "images", "--only", "media"]
    done = subprocess.run(words, capture_output=True, text=True, check=False, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "the endpoint does not claim the capability images" in done.stdout
    outcomes = {rule["rule"]: rule["outcome"] for rule in json.loads(report.read_text())["rules"]}
    assert outcomes["media/text-only-refuses"] == "passed"
    assert outcomes["media/round-trip"] == "not_applicable"


@pytest.mark.parametrize("name", OTHERS)
def test_a_memory_keeps_what_it_must(name):
    assert judged(memory(name), MUST) == {}


@pytest.mark.slow
@pytest.mark.parametrize("name", OTHERS)
def test_a_memory_keeps_the_whole_contract(name):
    found = judged(memory(name), all_rules())
    assert found.keys() == EXPECTED.get(name, {}).keys(), found


@pytest.mark.slow
@pytest.mark.parametrize("name", ["mem0", "memgpt", "rag"])
def test_with_models_it_keeps_what_it_must_also_while_they_are_away(name, tmp_path, monkeypatch):
    away = tmp_path / "away"
    with fake_provider() as provider:
        provider.chat = takes_notes
        away_while(provider, away)
        for variable, value in provider.environment().items():
            monkeypatch.setenv(variable, value)
        monkeypatch.setenv("AML_PROVIDER_RETRIES", "0")
        entry = memory(name, fault_cmd=f"touch {away}", heal_cmd=f"rm -f {away}")
        assert judged(entry, [*MUST, *faults()]) == {}
        assert provider.embeddings
        assert bool(provider.chats) == (name != "rag")


def faults():
    """The rules on a fault that are no MUST."""
    return [rule for rule in all_rules() if Need.FAULT in rule.needs and rule not in MUST]
