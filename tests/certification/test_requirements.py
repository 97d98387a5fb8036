"""The pinned requirement set and the registry of rules are the same, or the set has a new name."""

import pytest

from aml_contract.certification.requirements import (
    CURRENT,
    RequirementSet,
    UnknownSetError,
    requirements_for,
)
from aml_contract.outcome import Level
from aml_contract.rule import Capability, Need, all_rules

TRACKS = ("textual", "coding", "multimodal")
DIGESTS = {
    ("aml-cycle-2", "textual"): "5fa4ac056672ebb152e4e86bfaae0419211b65a30f8829222ad255eec94f9d1c",
    ("aml-cycle-2", "coding"): "e4d1b3572a8958a4f96885eb72f6de37242662b82040628989975b6f96114031",
    (
        "aml-cycle-2",
        "multimodal",
    ): "ad4328897e4263ae8f51b1d2c392598eb82b912eba192a01bc44917b798cbe0f",
}
"""What certificates that were issued hold: a set that has a name does not change any more."""


def tracks_of(rule):
    """The tracks that a rule concerns, as the registry tells it."""
    if Capability.IMAGES in rule.capabilities:
        return {"multimodal"}
    return {"coding"} if rule.name == "fidelity/trajectory" else set(TRACKS)


@pytest.mark.parametrize("track", TRACKS)
def test_the_set_asks_what_the_registry_holds(track):
    pinned = requirements_for(track)
    rules = [rule for rule in all_rules() if track in tracks_of(rule)]
    asked = {rule.name: rule.level for rule in rules}
    assert pinned.rules == asked, "rules have changed: pin them as a set with a new name"
    assert pinned.managed == {rule.name for rule in rules if Need.KILL in rule.needs}


@pytest.mark.parametrize(("name", "track"), DIGESTS)
def test_a_set_that_has_a_name_does_not_change(name, track):
    assert requirements_for(track, name).digest == DIGESTS[name, track]


def test_the_current_set_is_pinned_for_every_track():
    assert {track for name, track in DIGESTS if name == CURRENT} == set(TRACKS)


@pytest.mark.parametrize(
    "other",
    [
        {"name": "other"},
        {"track": "coding"},
        {"rules": {"echo/ids": Level.SHOULD, "echo/untouched": Level.MUST}},
        {"rules": {"echo/ids": Level.MUST}},
        {"managed": frozenset({"echo/ids"})},
    ],
)
def test_the_digest_is_of_everything_in_it(other):
    fields = {
        "name": "a",
        "track": "textual",
        "rules": {"echo/ids": Level.MUST, "echo/untouched": Level.MUST},
    }
    turned = {**fields, "rules": dict(reversed(fields["rules"].items()))}
    assert RequirementSet(**fields).digest == RequirementSet(**turned).digest
    assert RequirementSet(**fields).digest != RequirementSet(**{**fields, **other}).digest


def test_what_is_not_there_is_said():
    with pytest.raises(UnknownSetError, match="aml-cycle-2"):
        requirements_for("textual", "aml-cycle-9")
    with pytest.raises(UnknownSetError, match="multimodal"):
        requirements_for("audio")
