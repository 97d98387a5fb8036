"""The sentences at the end of a certification: why it came to its verdict, and what to do."""

from __future__ import annotations

from collections.abc import Sequence

from aml_contract.certification.document import End
from aml_contract.certification.stage import ORDER, StageResult, StageVerdict

_ENDS = {
    "interrupted": "It was interrupted",
    "unreachable": "Nothing answers any more",
    "error": "The kit broke, not the endpoint,",
    "not-kept": "What was measured could not be kept",
}
_AGAIN = "Then certify again, with another --out"


def reason_of(results: Sequence[StageResult], verdict: StageVerdict, stopped: End | None) -> str:
    """Why the verdict is what it is, in one sentence."""
    if verdict is StageVerdict.PASS:
        return "Every stage passed."
    if stopped and verdict is not StageVerdict.FAIL:
        return f"{_ENDS[stopped.why]} in stage {stopped.stage}."
    if decisive := _decisive(results, verdict):
        return f"Stage {decisive.stage}: {decisive.judgement.summary}"
    there = {result.stage for result in results}
    return f"Not measured: {', '.join(name for name in ORDER if name not in there)}."


def advice_of(
    results: Sequence[StageResult],
    verdict: StageVerdict,
    stopped: End | None,
    *,
    signed: bool,
    rehearsal: bool,
) -> str:
    """What to do next, in a sentence or two."""
    if verdict is StageVerdict.PASS and rehearsal:
        return "It was a rehearsal: for what counts, certify without --allow-private."
    if verdict is StageVerdict.PASS:
        return (
            "Hand certificate.json to whoever asks; `aml verify` reads it."
            if signed
            else "It is not signed: the same command with --resume and --key FILE signs it, and "
            "measures nothing again."
        )
    if stopped and verdict is not StageVerdict.FAIL:
        kept = ", ".join(result.stage for result in results) or "nothing"
        return f"The same command with --resume goes on; finished so far: {kept}."
    decisive = _decisive(results, verdict)
    counts = [each for each in decisive.judgement.problems if each.counts] if decisive else []
    first = (counts[0].fix or counts[0].sentence).rstrip(".") if counts else "See the report"
    if len(counts) > 1:
        first = f"mend the {len(counts)} problems of that stage; the first: {first}"
    return f"{first[:1].upper()}{first[1:]}. {_AGAIN}."


def _decisive(results: Sequence[StageResult], verdict: StageVerdict) -> StageResult | None:
    """The first stage that has the verdict of all."""
    return next((one for one in results if one.judgement.verdict is verdict), None)
