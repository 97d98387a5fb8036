"""Grounds: the problems of a stage, each with what it does to the verdict."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from aml_contract.certification.stage import Judgement, Problem, StageVerdict

_WORST_FIRST = (StageVerdict.FAIL, StageVerdict.INCOMPLETE, StageVerdict.INCONCLUSIVE)


@dataclass(frozen=True)
class Ground:
    """A problem and the verdict that it alone would lead to."""

    verdict: StageVerdict
    problem: Problem


def wrong(sentence: str, fix: str, clause: str = "") -> Ground:
    """What must not be: the stage fails."""
    return Ground(StageVerdict.FAIL, Problem(sentence=sentence, fix=fix, clause=clause))


def missing(sentence: str, fix: str, clause: str = "") -> Ground:
    """What it takes and is not there: the stage is incomplete."""
    return Ground(StageVerdict.INCOMPLETE, Problem(sentence=sentence, fix=fix, clause=clause))


def open_question(sentence: str, fix: str, clause: str = "") -> Ground:
    """What could not be seen from here: the stage is inconclusive."""
    return Ground(StageVerdict.INCONCLUSIVE, Problem(sentence=sentence, fix=fix, clause=clause))


def remark(sentence: str, fix: str = "", clause: str = "") -> Ground:
    """What is good to know and lowers nothing."""
    problem = Problem(sentence=sentence, fix=fix, clause=clause, counts=False)
    return Ground(StageVerdict.PASS, problem)


def as_remark(ground: Ground) -> Ground:
    """The same where it is allowed, as in a rehearsal."""
    return Ground(StageVerdict.PASS, ground.problem.model_copy(update={"counts": False}))


def judged(grounds: Iterable[Ground], good: str) -> Judgement:
    """The judgement of these grounds: the worst of them; the worst stand first, each once.

    Args:
        grounds: in the order in which they are found.
        good: the summary where none counts.
    """
    order = (*_WORST_FIRST, StageVerdict.PASS)
    once = {ground.problem.sentence: ground for ground in grounds}.values()
    ranked = sorted(once, key=lambda ground: order.index(ground.verdict))
    count = sum(ground.problem.counts for ground in ranked)
    return Judgement(
        verdict=ranked[0].verdict if ranked else StageVerdict.PASS,
        summary=_summary(ranked[0].problem.sentence, count - 1) if count else good,
        problems=[ground.problem for ground in ranked],
    )


def _summary(first: str, others: int) -> str:
    if not others:
        return first
    return f"{first.removesuffix('.')}, and {others} more problem{'s' if others > 1 else ''}."
