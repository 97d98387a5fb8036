"""The report of a certification: what it came to, stage by stage."""

from __future__ import annotations

from typing import Literal

from aml_contract.certification.beginning import Beginning
from aml_contract.certification.contract import Lowered
from aml_contract.certification.stage import Problem, StageResult, StageVerdict
from aml_contract.checking.document import EndpointInfo
from aml_contract.documented import Documented

Stopped = Literal["interrupted", "unreachable", "error", "not-kept"]


class End(Documented):
    """Why a certification did not come to its end."""

    why: Stopped
    """``interrupted``, ``unreachable``, ``error`` of the kit, or ``not-kept`` for want of disk."""
    stage: str
    """In which stage."""
    reason: str = ""
    """What was said; empty if it was interrupted."""


class Certification(Documented):
    """The report of a certification."""

    report: Literal["aml-certification/1"] = "aml-certification/1"
    """The form of this document."""
    verdict: StageVerdict
    """Of all stages together: the worst of them; ``INCOMPLETE`` if one lacks."""
    reason: str
    """Why, in one sentence."""
    advice: str
    """What to do next, in one sentence."""
    stopped: End | None
    """Why it did not come to its end; ``null`` if it did."""
    begun: Beginning
    """What it was begun with."""
    declaration_digest: str
    """SHA-256 of the declaration, the subject of a certificate."""
    endpoint: EndpointInfo
    """Which endpoint; no key in it."""
    lowered: list[Lowered]
    """What the endpoint declined, or the kit was not given, which lowered the bar."""
    stages: list[StageResult]
    """The finished stages, in their order."""
    certificate: str | None = None
    """The file with the certificate beside this one; ``null`` if nothing is signed."""

    @property
    def problems(self) -> list[tuple[str, Problem]]:
        """Everything that lowers the verdict, with its stage."""
        return [
            (result.stage, problem)
            for result in self.stages
            for problem in result.judgement.problems
            if problem.counts
        ]


def exit_code(report: Certification, *, unwritten: bool = False) -> int:
    """The exit code of ``aml certify``: the first that holds of 130, 4, 1, 3, 6, 0.

    Args:
        report: what it came to.
        unwritten: a file could not be written: that is 3, as other errors of the kit.
    """
    why = report.stopped.why if report.stopped else None
    holds = {
        130: why == "interrupted",
        4: why == "unreachable",
        1: report.verdict is StageVerdict.FAIL,
        3: unwritten or why in ("error", "not-kept"),
        6: report.verdict is not StageVerdict.PASS,
    }
    return next((code for code, true in holds.items() if true), 0)
