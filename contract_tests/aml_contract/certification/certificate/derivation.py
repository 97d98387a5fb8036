"""The verdict, derived from what was measured: the same by whoever issues and whoever verifies."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager

from pydantic import ValidationError

from aml_contract.certification.certificate.refusal import Reason, RefusedError, first_of
from aml_contract.certification.certificate.statement import (
    Endpoint,
    Statement,
    subject_of,
)
from aml_contract.certification.contract import ContractData, ContractStage, lowered
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
_FORGED = "take it for forged until its issuer explains it"


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
    endpoint, declined = of_contract(predicate.stages)
    if (predicate.endpoint, predicate.capabilities_declined) != (endpoint, declined):
        raise RefusedError(
            Reason.VERDICT,
            "the endpoint or the declined capabilities that it names are not those that were "
            "measured",
            _FORGED,
        )
    judgements = {}
    for name in ORDER:
        with _data_of(results[name]):
            judgements[name] = stages[name].judge(results[name].data, basis)
    _check_verdicts(statement, judgements)
    return judgements


def of_contract(results: Sequence[StageResult]) -> tuple[Endpoint, list[str]]:
    """The endpoint that the rules were tried on, and what lowered the bar there.

    Raises:
        RefusedError: the contract stage is missing, or its data are not of their form.
    """
    for result in results:
        if result.stage == ContractStage.name:
            with _data_of(result):
                data = ContractData.model_validate(result.data)
                names = [one.name for one in lowered(data)]
                return Endpoint.measured(data.report.endpoint), names
    raise RefusedError(Reason.STAGES, f"it lacks the stage {ContractStage.name}", _CERTIFY)


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


@contextmanager
def _data_of(result: StageResult) -> Iterator[None]:
    """Refuse data that cannot be read."""
    try:
        yield
    except (ValueError, LookupError, TypeError, ArithmeticError) as error:
        what = first_of(error) if isinstance(error, ValidationError) else repr(error)[:200]
        raise RefusedError(
            Reason.DATA,
            f"what the stage {result.stage} measured is not of the form that this kit judges: "
            f"{what}",
            "verify it with the version of the kit that issued it",
        ) from error


def _check_verdicts(statement: Statement, judgements: Mapping[str, Judgement]) -> None:
    """What it says follows from what was measured, and that is a PASS."""
    for name, judgement in judgements.items():
        said = statement.stages[name].judgement.verdict
        if said is not judgement.verdict:
            raise RefusedError(
                Reason.VERDICT,
                f"it says {said} of the stage {name}, but what was measured amounts to "
                f"{judgement.verdict}: {_against(judgement)}",
                _FORGED,
            )
    verdict = verdict_of(judgements)
    if verdict is not statement.predicate.verdict:
        raise RefusedError(
            Reason.VERDICT,
            f"it says {statement.predicate.verdict}, but its stages amount to {verdict}",
            _FORGED,
        )
    if verdict is not StageVerdict.PASS:
        name = next(name for name in ORDER if judgements[name].verdict is verdict)
        raise RefusedError(
            Reason.NOT_PASSED,
            f"the stage {name} came to {verdict}: {_against(judgements[name])}",
            f"put that right and {_CERTIFY}",
        )


def _against(judgement: Judgement) -> str:
    """Everything that counts against a stage."""
    problems = [problem.sentence for problem in judgement.problems if problem.counts]
    return "; ".join(problems or [judgement.summary])
