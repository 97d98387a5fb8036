"""Requirement sets: which rules a certificate rests on, pinned under a name.

A set is a file beside this one and never changes: other rules, or other levels, are a set
with another name. So a certificate means the same whenever it is read.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from importlib.resources import files
from typing import Any

from aml_contract.outcome import Level

CURRENT = "aml-cycle-2"
"""The set that this version of the kit certifies by."""


class UnknownSetError(LookupError):
    """This version of the kit has no set of that name, or not for that track."""


@dataclass(frozen=True)
class RequirementSet:
    """What an endpoint is asked on one track.

    ``managed`` are those of its rules that a remote endpoint is excused from: they kill the
    server at a moment of the kit's choosing, for which the kit must have started it.
    """

    name: str
    track: str
    rules: Mapping[str, Level]
    """The level of each required rule, by its name."""
    managed: frozenset[str] = frozenset()

    @cached_property
    def digest(self) -> str:
        """SHA-256, in hex, of the set as canonical JSON."""
        document = {
            "name": self.name,
            "track": self.track,
            "rules": {rule: level.value for rule, level in self.rules.items()},
            "managed": sorted(self.managed),
        }
        text = json.dumps(document, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
        return hashlib.sha256(text.encode()).hexdigest()


def requirements_for(track: str, name: str = CURRENT) -> RequirementSet:
    """The requirement set of a track.

    Args:
        track: ``textual``, ``coding`` or ``multimodal`` (clause T1).
        name: an older set, as a certificate names it.

    Raises:
        UnknownSetError: there is none; the message says which there are.
    """
    document = _sets().get(name)
    if document is None:
        raise UnknownSetError(
            f"this version of the kit has no requirement set {name!r}; "
            f"it has {', '.join(sorted(_sets()))}"
        )
    if track not in document["tracks"]:
        raise UnknownSetError(
            f"requirement set {name} has no track {track!r}; it has {', '.join(document['tracks'])}"
        )
    rules = {
        rule: asked
        for rule, asked in document["rules"].items()
        if track in asked.get("tracks", document["tracks"])
    }
    return RequirementSet(
        name=name,
        track=track,
        rules={rule: Level(asked["level"]) for rule, asked in rules.items()},
        managed=frozenset(rule for rule, asked in rules.items() if asked.get("managed")),
    )


@cache
def _sets() -> Mapping[str, Mapping[str, Any]]:
    """Every set in the package, by its name."""
    found = [
        json.loads(file.read_text("utf-8"))
        for file in files(__name__).iterdir()
        if file.name.endswith(".json")
    ]
    return {document["name"]: document for document in found}
