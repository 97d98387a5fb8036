"""The fingerprint as data: what is kept of the answers to canaries.

Nothing of an answer is kept but numbers of canaries, digests, scores and which of the
contract's fields there were: no text that the kit did not write itself.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Literal

from pydantic import Field

from aml_contract.certification.fingerprint.canaries import Canaries
from aml_contract.documented import Documented


class Aspect(StrEnum):
    """What of an answer is compared."""

    FOUND = "found"
    """Which memories came back."""
    RANKING = "ranking"
    """In which order; items of equal score count as having none."""
    CONTENTS = "contents"
    """What stands around the memories, and how they are rewritten."""
    SCORES = "scores"
    """The numbers."""


class Asked(Documented):
    """One question, and what was the same in all answers to it.

    An aspect that differed between two of the answers is ``null`` and is in ``wavered``.
    """

    found: list[str] | None
    """The canaries in each item, by number (``4,7``), or a digest if it shows none; sorted."""
    ranking: list[str] | None
    """The same in the order of the list."""
    contents: list[str] | None
    """A digest of each item's text in the order of ``found``: canaries, digits, ids and names
    of days and months aside."""
    scores: list[float] | None
    """Five digits of each, in the order of ``ranking``; empty if not every item has one."""
    wavered: list[Aspect] = Field(default_factory=list)
    """What was not the same in all answers."""


class Refusal(Documented):
    """How a request that makes no sense was answered, twice alike."""

    probe: str
    """What was sent, in words."""
    status: int | None
    """``null`` if it differed, or is one of passing trouble."""
    shape: str | None
    """A digest of the body's structure: kinds of values and names, without the values."""


class Fingerprint(Documented):
    """What a version answers about canaries, as far as that is steady."""

    fingerprint: Literal["aml-fingerprint/1"] = "aml-fingerprint/1"
    """The form of this document."""
    canaries: Canaries
    """What was stored and asked."""
    users: list[str]
    """Under which ``user_id`` they were stored."""
    stored: str
    """When, in ISO 8601 with offset."""
    answers: list[Asked]
    """One for each question."""
    seen: list[int]
    """The canaries that came back at least once, by number."""
    shape: list[str] | None
    """What items look like: which fields, and of which kind; ``null`` if that differed."""
    refusals: list[Refusal]
    """How errors look."""
    add_seconds: list[float]
    """How long each Add took, one after another."""
    search_seconds: list[float]
    """How long each Search took, four at once at most."""

    def steady(self, aspect: Aspect) -> float:
        """The share of questions with equal answers in this aspect."""
        return sum(aspect not in asked.wavered for asked in self.answers) / len(self.answers)
