"""The rules tried on the endpoint, also over several sittings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

from aml_contract.certification.configuration import without_commands
from aml_contract.certification.contract.data import ContractData
from aml_contract.certification.contract.judging import judgement_of
from aml_contract.certification.stage import Basis, Context, Judgement
from aml_contract.checking.check import Check, View
from aml_contract.checking.document import Report
from aml_contract.checking.result import RuleResult
from aml_contract.checking.resumption import CannotResume, Resumption
from aml_contract.configured import run_from
from aml_contract.endpoint.http import Unreachable, open_endpoint
from aml_contract.outcome import Outcome
from aml_contract.report.wording import one_line
from aml_contract.rule import Rule, all_rules
from aml_contract.run import new_run_id


class ContractStage:
    """Tries the rules as ``aml check`` does; of a sitting that was killed no result is lost."""

    name: ClassVar[str] = "contract"

    async def measure(self, context: Context) -> dict[str, Any]:
        """Try every rule of the requirement set; a :class:`ContractData`.

        Raises:
            Unreachable: nothing answers there, or nothing does any more.
        """
        asked = context.basis.requirements.rules
        report = await _tried([rule for rule in all_rules() if rule.name in asked], context)
        report.endpoint.flags = without_commands(report.endpoint.flags)
        target = context.target
        data = ContractData(
            outcomes={result.rule: result.outcome for result in report.rules},
            add_concurrency=target.add_concurrency or target.concurrency,
            search_concurrency=target.search_concurrency or target.concurrency,
            restartable=target.managed or bool(target.restart_cmd),
            report=report,
        )
        return data.model_dump(mode="json")

    def judge(self, data: Mapping[str, Any], basis: Basis) -> Judgement:
        """Judge the outcomes; see :func:`judgement_of`."""
        return judgement_of(ContractData.model_validate(data), basis)


async def _tried(rules: Sequence[Rule], context: Context) -> Report:
    """The report of a check, what an earlier sitting found taken over."""
    earlier = _earlier(context.directory)
    if earlier is not None:
        try:
            earlier.left(rules)
        except CannotResume:  # it was killed when it had come to its end
            return earlier.report
    # Another sitting is another salt: ids that nobody has used.
    run = run_from(context.settings, context.target, new_run_id(), seed=context.seed)
    run.patience = context.patience
    check = Check(
        context.target,
        rules,
        run,
        directory=context.directory,
        run_id=run.salt,
        origins=context.settings.origins,
        resumed=earlier,
    )
    check.view = _Watching(context, done=len(rules) - len(check.left), total=len(rules))
    await check.execute()
    if check.log.trouble:
        context.say(check.log.trouble)
    if check.unreachable:
        raise Unreachable(check.unreachable)
    report = check.report()
    if report.having(Outcome.NOT_TESTED) and not context.target.managed:
        async with open_endpoint(context.target):  # gone for good, it can be tried again later
            pass
    return report


def _earlier(directory: Path) -> Resumption | None:
    """What a sitting that was killed left; ``None`` if it had hardly begun."""
    try:
        return Resumption.of(directory)
    except CannotResume:
        (directory / "events.jsonl").unlink(missing_ok=True)
        return None


class _Watching(View):
    """Passes on what a check does to whoever watches the certification."""

    def __init__(self, context: Context, *, done: int, total: int) -> None:
        self._context = context
        self._done = done
        self._total = total

    def say(self, text: str) -> None:
        """Pass on what is being waited for."""
        self._context.say(text)

    def rule_finished(self, rule: Rule, result: RuleResult) -> None:
        """Count it; say what was found."""
        self._done += 1
        self._context.progress(self._done / self._total)
        if result.outcome in (Outcome.FAILED, Outcome.KIT_ERROR):
            self._context.say(one_line(result))
