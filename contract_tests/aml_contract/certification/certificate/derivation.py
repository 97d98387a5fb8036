"""The verdict, derived from what was measured: the same by whoever issues and whoever verifies."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import NoReturn

from aml_contract.certification.certificate.refusal import Reason, RefusedError
from aml_contract.certification.certificate.statement import Statement, subject_of
from aml_contract.certification.requirements import (
    RequirementSet,
    UnknownSetError,
    requirements_for,
)
from aml_contract.certification.stage import (
    ORDER,
    Basis,
    Judgement,
    Stage,
    StageResult,
    StageVerdict,
    verdict_of,
)

_CERTIFY = "certify the endpoint again"


def derived(statement: Statement, stages: Mapping[str, Stage]) -> dict[str, Judgement]:
    """Judge every stage of a certificate again, by its data alone.

    Args:
        statement: what a certificate says; nothing in it but the data is believed.
        stages: how each stage is judged, by its name.

    Returns:
        The judgement of each stage, in their order; together they are a PASS.

    Raises:
        RefusedError: they are none, or what the statement says does not follow from the data.
    """
    predicate = statement.predicate
    basis = Basis(predicate.declaration, _requirements(statement))
    if statement.subject != [subject_of(predicate.declaration)]:
        raise RefusedError(
            Reason.SUBJECT, "the declaration in it is not the one that its subject names", _CERTIFY
        )
    _check_complete(predicate.stages, stages)
    results = statement.stages
    judgements = {name: _judged(stages[name], results[name], basis) for name in ORDER}
    verdict = verdict_of(judgements)
    if verdict is not predicate.verdict:
        _refuse_verdict("", predicate.verdict, verdict)
    for name in ORDER:
        said = results[name].judgement.verdict
        if said is not judgements[name].verdict:
            _refuse_verdict(f"stage {name}: ", said, judgements[name].verdict)
    if verdict is not StageVerdict.PASS:
        raise RefusedError(
            Reason.NOT_PASSED,
            f"what was measured amounts to {verdict}: {_worst(judgements, verdict)}",
            f"put that right and {_CERTIFY}",
        )
    return judgements


def _requirements(statement: Statement) -> RequirementSet:
    """The pinned set that a certificate names."""
    named = statement.predicate.requirement_set
    try:
        pinned = requirements_for(named.track, named.name)
    except UnknownSetError as error:
        raise RefusedError(
            Reason.REQUIREMENTS, str(error), "verify it with a newer version of the kit"
        ) from None
    if named.digest != pinned.digest:
        raise RefusedError(
            Reason.REQUIREMENTS,
            f"its requirement set {named.name} is not the one that is pinned under this name",
            "verify it with a kit that was not changed",
        )
    if named.track != statement.predicate.declaration.track:
        raise RefusedError(
            Reason.REQUIREMENTS,
            f"it was judged for the track {named.track} and declares "
            f"{statement.predicate.declaration.track or 'none'}",
            _CERTIFY,
        )
    return pinned


def _check_complete(results: list[StageResult], stages: Mapping[str, Stage]) -> None:
    """Every stage is there once, and this kit can judge it."""
    counts = Counter(result.stage for result in results)
    troubles = (
        ("it lacks the stage", [name for name in ORDER if not counts[name]]),
        ("it has twice the stage", [name for name in counts if counts[name] > 1]),
        ("this kit does not know its stage", [name for name in counts if name not in ORDER]),
        ("this kit cannot judge its stage", [name for name in ORDER if name not in stages]),
    )
    for trouble, names in troubles:
        if names:
            raise RefusedError(Reason.STAGES, f"{trouble} {names[0]}", _CERTIFY)


def _judged(stage: Stage, result: StageResult, basis: Basis) -> Judgement:
    try:
        return stage.judge(result.data, basis)
    except (ValueError, LookupError, TypeError, ArithmeticError) as error:
        where = str(error).partition("\n")[0][:200]
        raise RefusedError(
            Reason.DATA,
            f"what the stage {result.stage} measured is not of the form that this kit judges "
            f"({type(error).__name__}: {where})",
            "verify it with the version of the kit that issued it",
        ) from error


def _refuse_verdict(where: str, said: StageVerdict, found: StageVerdict) -> NoReturn:
    raise RefusedError(
        Reason.VERDICT,
        f"{where}it says {said}, but what was measured amounts to {found}",
        "take it for forged until its issuer explains it",
    )


def _worst(judgements: Mapping[str, Judgement], verdict: StageVerdict) -> str:
    """The first stage that has this verdict, and everything that counts against it."""
    name, worst = next((n, j) for n, j in judgements.items() if j.verdict is verdict)
    problems = [problem.sentence for problem in worst.problems if problem.counts]
    return f"stage {name}: " + "; ".join(problems or [worst.summary])
