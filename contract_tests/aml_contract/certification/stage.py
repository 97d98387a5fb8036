"""A stage of a certification: it measures, and judges what was measured.

The two are apart so that a certificate can be judged again by whoever reads it: measuring
needs the endpoint, judging only what was measured and what it is judged by.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

from pydantic import Field

from aml_contract.documented import Documented

if TYPE_CHECKING:
    from aml_contract.certification.declaration.model import Declaration
    from aml_contract.certification.requirements import RequirementSet
    from aml_contract.config import Resolved
    from aml_contract.endpoint.target import Target


class StageVerdict(StrEnum):
    """What a stage, or all of them together, says about the endpoint."""

    PASS = "PASS"  # noqa: S105  a verdict
    FAIL = "FAIL"
    INCONCLUSIVE = "INCONCLUSIVE"
    """What was measured supports neither."""
    INCOMPLETE = "INCOMPLETE"
    """Something that it takes was missing; the problems say what."""


class Problem(Documented):
    """One thing that is wrong or missing, in one plain sentence."""

    sentence: str
    """What is wrong."""
    fix: str = ""
    """What to do about it."""
    clause: str = ""
    """Clause of the wire contract, if it comes from one."""
    counts: bool = True
    """Whether it lowers the verdict; else it is a remark."""


class Judgement(Documented):
    """What a stage came to, derived from its data alone."""

    verdict: StageVerdict
    summary: str
    """One sentence for people who read nothing else."""
    problems: list[Problem] = Field(default_factory=list)


class StageResult(Documented):
    """A finished stage, as it is kept in a file and in a certificate."""

    stage: str
    """Its name."""
    judgement: Judgement
    data: dict[str, Any]
    """What was measured: JSON, of a form that the stage documents."""
    began: str
    """When, in ISO 8601 with offset."""
    seconds: float
    """How long it took, in all its sittings."""


@dataclass(frozen=True)
class Basis:
    """What stages are judged by, beside what was measured; it is in the certificate too."""

    declaration: Declaration
    requirements: RequirementSet


@dataclass
class Context:
    """What a stage may use to measure.

    ``directory`` is the stage's own: what it leaves there, it finds again when a certification
    that was killed goes on. ``earlier`` has the results of the stages before it.
    ``patience`` scales every wait of the kit's own: 1 for strangers, less in tests.
    """

    settings: Resolved
    target: Target
    basis: Basis
    directory: Path
    run_id: str
    seed: int
    earlier: Mapping[str, StageResult] = field(default_factory=dict)
    allow_private: bool = False
    volume: int | None = None
    """Adds of the run to be forecast; those of a Full run of the track if not given."""
    patience: float = 1.0
    say: Callable[[str], None] = lambda _: None
    """Shows one line of progress."""
    progress: Callable[[float], None] = lambda _: None
    """Shows the share that is done, from 0 to 1."""


class Stage(Protocol):
    """One stage. It is made without arguments; what it needs is in the context."""

    name: ClassVar[str]

    async def measure(self, context: Context) -> dict[str, Any]:
        """Measure the endpoint.

        Returns:
            Data that is JSON as it is.

        Raises:
            Unreachable: nothing answers there.
        """
        ...

    def judge(self, data: Mapping[str, Any], basis: Basis) -> Judgement:
        """Judge what was measured: a pure function, the same for who measures and who verifies."""
        ...


ORDER = ("declaration", "preflight", "contract", "capacity", "forecast", "fingerprint")
"""The stages of a certification, in this order; a certificate needs all."""


def verdict_of(judgements: Mapping[str, Judgement]) -> StageVerdict:
    """What the stages mean together: the worst of them; one that lacks is INCOMPLETE."""
    verdicts = {judgement.verdict for judgement in judgements.values()}
    if StageVerdict.FAIL in verdicts:
        return StageVerdict.FAIL
    if StageVerdict.INCOMPLETE in verdicts or set(ORDER) - set(judgements):
        return StageVerdict.INCOMPLETE
    if StageVerdict.INCONCLUSIVE in verdicts:
        return StageVerdict.INCONCLUSIVE
    return StageVerdict.PASS
