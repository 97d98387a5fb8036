"""What a rule can come to, and what the rules together mean: outcomes and verdicts."""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum


class Level(StrEnum):
    """How much a rule weighs (wire contract, "Levels")."""

    MUST = "MUST"
    """Breaking it ends a run, disqualifies the entry, or loses or leaks data."""
    SHOULD = "SHOULD"
    """Breaking it was seen to hurt real runs; it fails only under ``--strict``."""
    MAY = "MAY"
    """Worth knowing; it never fails."""


class Outcome(StrEnum):
    """What one rule came to on one endpoint."""

    PASSED = "passed"
    FAILED = "failed"
    WARNED = "warned"
    NOT_APPLICABLE = "not_applicable"
    """The endpoint does not claim what the rule is about; never lowers a verdict."""
    NOT_TESTED = "not_tested"
    """Something was missing to try it (a key, a restart, a working Add); says what."""
    KIT_ERROR = "kit_error"
    """The kit broke; never the endpoint's fault."""


class Verdict(StrEnum):
    """What a whole run says about the endpoint."""

    CONFORMANT = "CONFORMANT"
    INCOMPLETE = "INCOMPLETE"
    """No MUST failed, but some could not be tested."""
    NONCONFORMANT = "NONCONFORMANT"


def outcome_of_violation(level: Level, *, strict: bool) -> Outcome:
    """The one place where a level decides what a violation means."""
    if level is Level.MUST or (level is Level.SHOULD and strict):
        return Outcome.FAILED
    return Outcome.WARNED


def verdict_of(results: Iterable[tuple[Level, Outcome]]) -> Verdict:
    """Derive the verdict from every selected rule's level and outcome."""
    must = {outcome for level, outcome in results if level is Level.MUST}
    if Outcome.FAILED in must:
        return Verdict.NONCONFORMANT
    if must & {Outcome.NOT_TESTED, Outcome.KIT_ERROR}:
        return Verdict.INCOMPLETE
    return Verdict.CONFORMANT
