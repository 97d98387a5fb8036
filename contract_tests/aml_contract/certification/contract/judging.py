"""What the outcomes of the rules mean for a certificate."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from aml_contract.certification.contract.data import ContractData
from aml_contract.certification.contract.lowered import lowered
from aml_contract.certification.grounds import Ground, judged, missing, remark, wrong
from aml_contract.certification.stage import Basis, Judgement, StageVerdict
from aml_contract.outcome import Level, Outcome
from aml_contract.report.wording import some
from aml_contract.rule import Need, all_rules

_UNTESTED = frozenset({Outcome.NOT_TESTED, Outcome.KIT_ERROR})


def judgement_of(data: ContractData, basis: Basis) -> Judgement:
    """FAIL by a failed MUST, INCOMPLETE by what was not tested or too little, else PASS."""
    untested = _untested(data, basis)
    grounds = [
        *_findings(data, basis),
        *_shortcomings(data, basis),
        *_obstacles(data, untested),
        *(remark(f"{one.sentence}; {_rules(one.rules)} did not apply") for one in lowered(data)),
    ]
    made = judged(grounds, "")
    levels = basis.requirements.rules
    must = [name for name, level in levels.items() if level is Level.MUST]
    passed = [n for n in must if data.outcomes.get(n) in (Outcome.PASSED, Outcome.WARNED)]
    failed = [n for n in must if data.outcomes.get(n) is Outcome.FAILED]
    warned = len(data.report.having(Outcome.WARNED))
    warnings = f"; {warned} warning{'' if warned == 1 else 's'}" if warned else ""
    match made.verdict:
        case StageVerdict.FAIL:
            summary = f"{len(failed)} of {len(failed) + len(passed)} MUST rules failed"
        case StageVerdict.INCOMPLETE if untested:
            summary = (
                f"No MUST rule failed ({len(passed)} passed), "
                f"but {len(untested)} could not be tested"
            )
        case StageVerdict.INCOMPLETE:
            summary = f"No MUST rule failed, but {made.problems[0].sentence}"
        case _:
            summary = (
                f"Every MUST rule that applies passed ({len(passed)} of {len(must)}) at "
                f"{data.add_concurrency} Adds and {data.search_concurrency} Searches in flight"
            )
    return made.model_copy(update={"summary": f"{summary}{warnings}."})


def _findings(data: ContractData, basis: Basis) -> Iterator[Ground]:
    """Each failed MUST; as remarks, whatever else was found."""
    rules = {rule.name: rule for rule in all_rules()}
    for result in data.report.rules:
        if result.outcome not in (Outcome.FAILED, Outcome.WARNED):
            continue
        must = basis.requirements.rules.get(result.rule) is Level.MUST
        said = wrong if must and result.outcome is Outcome.FAILED else remark
        fix = rules[result.rule].fix if result.rule in rules else ""
        sentence = f"{result.rule}: {result.message.partition(chr(10))[0]}"
        yield said(sentence, fix, result.clause)


def _untested(data: ContractData, basis: Basis) -> list[str]:
    """The MUST rules without an outcome, but for those that a remote endpoint is excused from."""
    requirements = basis.requirements
    return [
        name
        for name, level in requirements.rules.items()
        if level is Level.MUST
        and data.outcomes.get(name, Outcome.NOT_TESTED) in _UNTESTED
        and not (data.remote and name in requirements.managed)
    ]


def _obstacles(data: ContractData, untested: Sequence[str]) -> Iterator[Ground]:
    """What stood in the way of rules, each once."""
    found = {result.rule: result for result in data.report.rules}
    want_restart = {rule.name for rule in all_rules() if Need.RESTART in rule.needs}
    reasons: dict[str, list[str]] = {}
    for name in untested:
        if not data.restartable and name in want_restart:
            continue  # that is said once, with what to do
        reason = found[name].message if name in found else "they are not among those tried"
        reasons.setdefault(reason, []).append(name)
    for reason, names in reasons.items():
        broke = any(n in found and found[n].outcome is Outcome.KIT_ERROR for n in names)
        yield missing(
            f"{_rules(names)} could not be tested ({some(names)}): {reason}",
            "report it, it is an error of the kit itself"
            if broke
            else "see to that; whether it is mended, this tells: "
            f"aml check --config FILE --only {names[0]}",
        )


def _shortcomings(data: ContractData, basis: Basis) -> Iterator[Ground]:
    """Why what was tried is less than a certificate asks."""
    if not data.restartable:
        yield missing(
            "the server could not be restarted, so nobody knows whether it keeps what it "
            "acknowledged",
            'name a command that restarts it: restart_cmd = "…" in [hooks]',
            "A12",
        )
    declared = basis.declaration
    for operation, tried, wanted in (
        ("Adds", data.add_concurrency, declared.add_concurrency),
        ("Searches", data.search_concurrency, declared.search_concurrency),
    ):
        if wanted is not None and tried < wanted:
            yield missing(
                f"{tried} {operation} were in flight, {wanted} are declared",
                "certify again at the declared concurrency",
                "L1",
            )
    track = data.report.settings.track
    if track != basis.requirements.track:
        yield missing(
            f"it was tried as {track}, not as {basis.requirements.track}",
            "certify again for the declared track",
            "T1",
        )


def _rules(names: Sequence[str]) -> str:
    return "1 rule" if len(names) == 1 else f"{len(names)} rules"
