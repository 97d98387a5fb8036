"""The report of a drift: what was compared, and what that says."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from pydantic import Field

from aml_contract.certification.certificate.statement import Endpoint, Kit
from aml_contract.certification.drift.latency import Times
from aml_contract.certification.drift.spot import Spot
from aml_contract.certification.fingerprint import Comparison, Sameness
from aml_contract.documented import Documented


class About(Documented):
    """What it is compared with."""

    subject: str
    """``SYSTEM@VERSION``."""
    endpoint: Endpoint
    """Where that answered."""
    kit: Kit
    """Which kit measured it."""
    signed_by: list[str]
    """The trusted keys that signed it; empty if that was not checked."""


class Drift(Documented):
    """Whether what answers now is still what was certified."""

    report: Literal["aml-drift/1"] = "aml-drift/1"
    """The form of this document."""
    certified: About
    endpoint: list[str]
    """The options of ``aml check`` that name what answered now; no key in it."""
    kit: str
    """Version of the kit that compared."""
    seed: int
    began: str
    """When, in ISO 8601 with offset."""
    seconds: float
    fingerprint: Comparison
    """Of the canaries."""
    survival: str
    """Whether the canaries of that day are still there: that alone says nothing of the version."""
    spot_checks: list[Spot]
    latency: list[Times]
    remarks: list[str] = Field(default_factory=list)
    """What limits all this."""

    @property
    def contract(self) -> Comparison:
        """What the spot checks say together."""
        return _contract(self.spot_checks)

    @property
    def parts(self) -> dict[str, Comparison]:
        """What was compared, by name."""
        slow = [each for each in self.latency if each.sameness is Sameness.CHANGED]
        latency = Comparison(
            sameness=Sameness.CHANGED if slow else Sameness.SAME,
            sentence=" ".join(each.sentence for each in slow or self.latency),
        )
        return {"fingerprint": self.fingerprint, "contract": self.contract, "latency": latency}

    @property
    def sameness(self) -> Sameness:
        """What all parts say together: changed if one does, same if all do."""
        found = {part.sameness for part in self.parts.values()}
        for each in (Sameness.CHANGED, Sameness.UNKNOWN):
            if each in found:
                return each
        return Sameness.SAME

    @property
    def sentence(self) -> str:
        """The answer in one sentence."""
        subject = self.certified.subject
        decisive = [part for part in self.parts.values() if part.sameness is self.sameness]
        match self.sameness:
            case Sameness.SAME:
                return f"What answers is still {subject}, as far as can be seen from outside."
            case Sameness.CHANGED:
                return f"What answers is no longer {subject} as certified. {decisive[0].sentence}"
            case Sameness.UNKNOWN:
                return f"It cannot be told whether this is still {subject}. {decisive[0].sentence}"


def exit_code(found: Drift, *, unwritten: bool = False) -> int:
    """The exit code of ``aml drift``: the first that holds of 1, 3, 6, 0."""
    holds = {
        1: found.sameness is Sameness.CHANGED,
        3: unwritten,
        6: found.sameness is Sameness.UNKNOWN,
    }
    return next((code for code, true in holds.items() if true), 0)


def _contract(spots: list[Spot]) -> Comparison:
    by_sameness = {each: [spot for spot in spots if spot.sameness is each] for each in Sameness}
    changed, unknown = by_sameness[Sameness.CHANGED], by_sameness[Sameness.UNKNOWN]
    if changed:
        rules = "1 rule fails" if len(changed) == 1 else f"{len(changed)} rules fail"
        first = f"{changed[0].rule}: {changed[0].message}"
        sameness, sentence = Sameness.CHANGED, f"{rules} that held when it was certified ({first})."
    elif unknown:
        rules = "1 rule" if len(unknown) == 1 else f"{len(unknown)} rules"
        first = f"{unknown[0].rule}: {unknown[0].message}"
        sameness, sentence = Sameness.UNKNOWN, f"{rules} came to no clear result ({first})."
    elif not spots:
        sentence = "None of the rules of the spot check held when it was certified."
        sameness = Sameness.UNKNOWN
    else:
        sameness, sentence = Sameness.SAME, f"All {len(spots)} rules of the spot check still hold."
    return Comparison(
        sameness=sameness, sentence=sentence, differences=list(_lines([*changed, *unknown]))
    )


def _lines(spots: list[Spot]) -> Iterator[str]:
    for spot in spots:
        how = "failed once and not again" if spot.wavers else spot.now.value.replace("_", " ")
        yield f"{spot.rule} {how}: {spot.message}"
