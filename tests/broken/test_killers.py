"""Every variation fails the rules that it was made for, for its own reason."""

import functools

import pytest

from aml_contract.outcome import Level, Outcome
from aml_contract.rule import Capability, all_rules
from tests.broken import servers
from tests.broken.correct import Correct
from tests.broken.serving import KEY, judge, keyed, managed
from tests.servers import in_thread

RULES = {rule.name: rule for rule in all_rules()}
SERVERS = servers()
PAIRS = [(name, rule) for name, server in SERVERS.items() for rule in server.kills]

OF_A_TRACK = [
    rule
    for rule in RULES.values()
    if Capability.IMAGES in rule.capabilities or rule.name == "fidelity/trajectory"
]


def needs_company(rule):
    """``structure/legal-requests`` judges what others sent."""
    alone = not rule.last or rule.family != "structure"
    return [] if alone else [r for r in RULES.values() if r.family == "structure" and not r.last]


@functools.cache
def on_one_server(name):
    """What the rules of a variation that need no process came to, on one server."""
    server = SERVERS[name]
    wanted = [RULES[one] for one in server.kills if not RULES[one].needs]
    company = [one for rule in wanted for one in needs_company(rule)]
    key = needs_key(name)
    app = server(scheme="bearer" if key else "none", key=KEY if key else "")
    with in_thread(app, patient=False, **app.uvicorn_settings()) as url:
        return judge(
            {one.name: one for one in [*wanted, *company]}.values(),
            url=url,
            thresholds=server.thresholds,
            track=server.track,
            **keyed(key),
        )


def needs_key(name):
    return any(Capability.AUTH in RULES[rule].capabilities for rule in SERVERS[name].kills)


@pytest.mark.parametrize(("name", "rule"), PAIRS, ids=[f"{n}-{r}" for n, r in PAIRS])
def test_killer(name, rule):
    assert rule in RULES, f"no rule is named {rule}"
    if RULES[rule].needs:
        result = judge([RULES[rule]], **managed(name))[rule]
    else:
        result = on_one_server(name)[rule]
    must = RULES[rule].level is Level.MUST and rule not in SERVERS[name].risks
    wanted = Outcome.FAILED if must else Outcome.WARNED
    assert result.outcome is wanted, f"{result.outcome}: {result.message}"
    assert SERVERS[name].kills[rule] in result.message


def test_correct_server_passes_every_rule(monkeypatch):
    monkeypatch.setenv("AML_KEY", KEY)
    target = managed(Correct.__name__)
    target["cmd"] += " --auth bearer"
    found = judge(RULES.values(), **target, **keyed(True))
    assert found.keys() == RULES.keys()
    fine = {Outcome.PASSED, Outcome.NOT_APPLICABLE}
    assert not bad_ones(found, fine)
    bound = {n for n, r in found.items() if r.outcome is Outcome.NOT_APPLICABLE}
    assert bound == {rule.name for rule in OF_A_TRACK}


@pytest.mark.parametrize("track", ["multimodal", "coding"])
def test_correct_server_passes_what_only_its_track_asks(track):
    with in_thread(SERVERS["Multimodal"]()) as url:
        found = judge(OF_A_TRACK, url=url, track=track)
    assert not bad_ones(found, {Outcome.PASSED, Outcome.NOT_APPLICABLE})
    assert Outcome.PASSED in {result.outcome for result in found.values()}


def bad_ones(found, fine):
    return {n: f"{r.outcome}: {r.message}" for n, r in found.items() if r.outcome not in fine}
