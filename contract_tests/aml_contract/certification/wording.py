"""The sentences at the end of a certification: why it came to its verdict, and what to do."""

from __future__ import annotations

from collections.abc import Sequence

from aml_contract.certification.document import End
from aml_contract.certification.stage import ORDER, Problem, StageResult, StageVerdict

_ENDS = {
    "interrupted": "It was interrupted",
    "unreachable": "Nothing answers any more",
    "error": "The kit broke, not the endpoint,",
    "not-kept": "What was measured could not be kept",
}
_AGAIN = "then certify again, with another --out"


def reason_of(results: Sequence[StageResult], verdict: StageVerdict, stopped: End | None) -> str:
    """Why the verdict is what it is, in one sentence."""
    if verdict is StageVerdict.PASS:
        return "Every stage passed."
    for result in results:
        if result.judgement.verdict is verdict:
            return f"Stage {result.stage}: {result.judgement.summary}"
    if stopped:
        return f"{_ENDS[stopped.why]} in stage {stopped.stage}."
    there = {result.stage for result in results}
    lacking = [name for name in ORDER if name not in there]
    return f"Not measured: {', '.join(lacking)}."


def advice_of(
    results: Sequence[StageResult],
    verdict: StageVerdict,
    stopped: End | None,
    *,
    signed: bool,
) -> str:
    """What to do next, in one sentence."""
    if stopped:
        kept = ", ".join(result.stage for result in results) or "nothing yet"
        goes_on = f"the same command with --resume goes on (kept: {kept})."
        if verdict is not StageVerdict.FAIL:
            return f"{goes_on[:1].upper()}{goes_on[1:]}"
    if verdict is StageVerdict.PASS:
        return (
            "Hand certificate.json to whoever asks; `aml verify` reads it."
            if signed
            else "It is not signed: the same command with --resume and --key FILE signs it, and "
            "measures nothing again."
        )
    first = _first(results, verdict)
    fix = f"{first.fix.rstrip('.')}, " if first and first.fix else ""
    return f"{fix[:1].upper()}{fix[1:]}{_AGAIN if fix else _AGAIN.removeprefix('then ')}."


def _first(results: Sequence[StageResult], verdict: StageVerdict) -> Problem | None:
    """What to see to first: the first problem that counts of the stage that decides."""
    problems = (
        problem
        for result in results
        if result.judgement.verdict is verdict
        for problem in result.judgement.problems
        if problem.counts
    )
    return next(problems, None)
