"""Whether a declaration is complete for its division, and consistent with the settings."""

from __future__ import annotations

from collections.abc import Iterator

from pydantic import Field

from aml_contract.certification.declaration.checklist import asked
from aml_contract.certification.declaration.credentials import credential_in
from aml_contract.certification.declaration.model import Declaration, is_unanswered
from aml_contract.certification.declaration.provenance import provenance
from aml_contract.certification.grounds import Ground, as_remark, missing, remark, wrong
from aml_contract.documented import Documented

LONGEST_TIMEOUT = 1800.0
"""Seconds after which the platform gives a request up (clause F2)."""
PROXY_TIMEOUT = 90.0
"""Seconds from which on proxies before real entries have cut requests off (clause F2)."""
LONGEST_RETENTION = 30
"""Days after which evaluation data must be gone (clause L3)."""
CONCURRENCY = {"add": (16, 64), "search": (16, 256)}
"""What may be declared (clause L1)."""

_CLAUSES = {
    "add_concurrency": "L1",
    "search_concurrency": "L1",
    "rate_limits": "L1",
    "add_timeout": "F2",
    "search_timeout": "F2",
    "retention_days": "L3",
}
_OF_DIVISION = {
    "open-source": frozenset({"repository", "commit", "attribution", "changes"}),
    "commercial": frozenset({"product_version"}),
}


class Circumstances(Documented):
    """What a declaration is compared with: the settings beside it."""

    track: str
    """The track of `[capabilities]`, whose rules are tried."""
    auth: str
    """How the key travels."""
    timeout: float | None = None
    """Seconds that the kit waits for an answer, where a setting says so."""
    add_concurrency: int | None = None
    """Adds in flight, where a setting says so."""
    search_concurrency: int | None = None
    """Searches in flight, where a setting says so."""
    fault: bool = False
    """Whether the settings say how to break its store."""
    allow_private: bool = False
    """Whether this is a rehearsal, where less than the platform demands is allowed."""
    key_in: list[str] = Field(default_factory=list)
    """Fields that hold the endpoint's own key."""


def grounds(declared: Declaration, beside: Circumstances) -> Iterator[Ground]:
    """All that is to be said of a declaration.

    Args:
        declared: what the builder states.
        beside: the settings beside it.
    """
    secrets = list(_secrets(declared, beside))
    yield from secrets
    if secrets:
        return  # what else is said repeats values
    if declared == Declaration():
        fix = "write [declaration] into the endpoint's file: aml init --declaration shows how"
        yield missing("Nothing is declared.", fix, "T3")
        return
    yield from _lacking(declared)
    yield from provenance(declared)
    for found in _demands(declared, beside):
        yield as_remark(found) if beside.allow_private else found
    yield from _times(declared, beside)
    yield from _settings(declared, beside)
    for row in asked(with_fault=beside.fault):
        if is_unanswered(declared.review.get(row.number, "")):
            yield missing(
                f"Row {row.number} of the checklist has no answer: {row.question}",
                f'write {row.number} = "…" into [declaration.review]',
            )


def _secrets(declared: Declaration, beside: Circumstances) -> Iterator[Ground]:
    for name, text in declared.texts.items():
        likely = credential_in(text)
        held = "the endpoint's own key" if name in beside.key_in else None
        if held or likely:
            yield wrong(
                f"{name} holds {held or f'what looks like {likely}'}.",
                "take it out, and replace it where it is used: declarations are shown to others",
                "K3",
            )


def _lacking(declared: Declaration) -> Iterator[Ground]:
    others = [names for of, names in _OF_DIVISION.items() if of != declared.division]
    needless = frozenset({"review"}).union(*others)
    for name, info in Declaration.model_fields.items():
        if name not in needless and is_unanswered(getattr(declared, name)):
            told = (info.description or "").rstrip(".")
            yield missing(
                f"The declaration has no {name}.",
                f"write {name} into [declaration]: {told[:1].lower()}{told[1:]}",
                _CLAUSES.get(name, "T3"),
            )


def _demands(declared: Declaration, beside: Circumstances) -> Iterator[Ground]:
    """What the platform demands of every entry, and a rehearsal need not have."""
    for kind, (least, most) in CONCURRENCY.items():
        number = getattr(declared, f"{kind}_concurrency")
        if number is not None and not least <= number <= most:
            side = f"fewer than {least}" if number < least else f"more than {most}"
            yield wrong(
                f"{kind}_concurrency is {number}, {side}.",
                f"declare what the endpoint bears, from {least} to {most}",
                "L1",
            )
    if beside.auth == "none":
        yield wrong(
            "The endpoint is registered without a key, which only public Smoke runs may be.",
            "have it want a key, and write auth and key_env into [endpoint]",
            "K1",
        )


def _times(declared: Declaration, beside: Circumstances) -> Iterator[Ground]:
    for name in ("add_timeout", "search_timeout"):
        seconds = getattr(declared, name)
        if seconds is None:
            continue
        if not 0 < seconds <= LONGEST_TIMEOUT:
            yield wrong(
                f"{name} is {seconds:g} s, which is not between 0 and {LONGEST_TIMEOUT:g}.",
                "declare the seconds within which every answer comes",
                "F2",
            )
            continue
        if seconds > PROXY_TIMEOUT:
            yield remark(
                f"{name} is {seconds:g} s; proxies cut requests off after 100 to 125 s.",
                "see that no proxy before the endpoint does, or answer within 90 s",
                "F2",
            )
        if beside.timeout is not None and beside.timeout < seconds:
            yield wrong(
                f"{name} is {seconds:g} s, but the setting timeout is {beside.timeout:g}: the kit "
                "would give up sooner than declared.",
                "give timeout at least the declared seconds, or take it out",
                "F2",
            )
    days = declared.retention_days
    if days is not None and not 0 <= days <= LONGEST_RETENTION:
        yield wrong(
            f"retention_days is {days}, which is not between 0 and {LONGEST_RETENTION}.",
            "delete evaluation data within 30 days of a run, and declare when",
            "L3",
        )


def _settings(declared: Declaration, beside: Circumstances) -> Iterator[Ground]:
    if declared.track and declared.track != beside.track:
        yield wrong(
            f"track is {declared.track!r} in [declaration], but the setting is {beside.track!r}.",
            f'write track = "{declared.track}" into [capabilities], or correct the declaration',
            "T1",
        )
    for name in ("add_concurrency", "search_concurrency"):
        stated, set_to = getattr(declared, name), getattr(beside, name)
        if None not in (stated, set_to) and stated != set_to:
            yield wrong(
                f"{name} is {stated} in [declaration], but the setting is {set_to}.",
                "take the setting out: what is declared is what is tried",
                "L1",
            )
