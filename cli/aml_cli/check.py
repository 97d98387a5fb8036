"""``aml check``: judge an endpoint."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from aml_cli.options import configured
from aml_cli.resuming import earlier_run, taken_over
from aml_cli.running import (
    make_target,
    print_settings,
    until_interrupted,
    usage_error,
)
from aml_cli.writing import write_reports
from aml_contract.config import Resolved

if TYPE_CHECKING:
    from rich.console import Console

    from aml_contract.checking.check import Check
    from aml_contract.rule import Cost, Rule


@configured("endpoint", "capabilities", "hooks", "limits", "run", "report")
def check(
    settings: Resolved,
    plan: Annotated[
        bool, typer.Option("--plan", help="Print how many requests would be sent; send none.")
    ] = False,
    resume: Annotated[
        bool,
        typer.Option(
            "--resume", help="Go on with a run that was stopped or killed, RUN or the latest."
        ),
    ] = False,
    run_name: Annotated[
        str | None,
        typer.Argument(metavar="RUN", help="With --resume: the name of a run in .aml/runs."),
    ] = None,
) -> None:
    """Judge an endpoint by the contract.

    Exit codes: 0 no MUST rule failed, 1 one failed (or a SHOULD with --strict), 2 usage,
    3 error of the kit, 4 nothing answers, 5 nothing tested, 6 incomplete with
    --require-all, 130 interrupted (what ran is still reported).
    """
    from aml_cli.console import SteadyConsole
    from aml_contract.checking.check import RUNS
    from aml_contract.checking.events import RunUnderWay
    from aml_contract.checking.resumption import CannotResume
    from aml_contract.checking.selection import Means, UnknownRuleError, select
    from aml_contract.checking.selection import plan as plan_of
    from aml_contract.configured import check_from, run_from
    from aml_contract.rule import all_rules
    from aml_contract.run import new_run_id

    if run_name is not None and not resume:
        usage_error(f"{run_name!r} is no option; an endpoint is named as --url {run_name}")
    earlier = None
    if resume:
        earlier, settings = earlier_run(settings, run_name)
    target = make_target(settings)
    only = settings["only"] or (earlier.tried if earlier else ())
    try:
        selected = select(all_rules(), only, quick=settings["quick"])
    except UnknownRuleError as error:
        usage_error(str(error))
    run = run_from(settings, target, new_run_id())
    console = SteadyConsole()
    if plan:
        _print_plan(console, plan_of(selected, Means.of(target, run.capabilities)))
        if run.fuzz_budget and any(rule.family == "fuzz" for rule in selected):
            console.print(
                f"Generated requests (fuzz) end after {run.fuzz_budget:g} s, however many they are."
            )
        return
    try:
        directory = RUNS / run.salt
        made = check_from(settings, target, selected, run, directory=directory, resumed=earlier)
    except (CannotResume, RunUnderWay) as error:
        usage_error(str(error))
    if earlier:
        kept = len(made.rules) - len(made.left)
        console.print(taken_over(earlier, kept, len(made.left)), highlight=False, soft_wrap=True)
    code = execute(made, console, settings, require_all=settings["require_all"])
    raise typer.Exit(code)


def execute(
    check: Check,
    console: Console,
    settings: Resolved,
    *,
    require_all: bool = False,
    command: str = "aml check",
) -> int:
    """Run the check, print and write its reports; the exit code."""
    from aml_contract.checking.document import exit_code
    from aml_contract.report.progress import ProgressView

    _print_header(console, check, command)
    print_settings(console, settings, check.target)
    with ProgressView(console, len(check.left)) as view:
        check.view = view
        until_interrupted(check.execute())
    report = check.report()
    if check.unreachable:
        typer.echo(f"aml: {check.unreachable}", err=True)
    else:
        _print_outcome(console, check)
    unwritten = write_reports(report, check.rules, settings.report_files)
    return exit_code(report, require_all=require_all, unwritten=bool(unwritten))


def _print_header(console: Console, check: Check, command: str) -> None:
    target, run, count = check.target, check.run, len(check.rules)
    rules = "1 rule" if count == 1 else f"{count} rules"
    console.print(
        f"{command} · {rules} · seed {run.seed} · {target.concurrency} at once · {run.track}",
        markup=False,
        highlight=False,
    )


def _print_outcome(console: Console, check: Check) -> None:
    from aml_contract.report.terminal import print_report

    print_report(console, check.report(), _by_name(check.rules))
    if check.log.trouble:
        typer.echo(f"aml: {check.log.trouble}", err=True)
    else:
        console.print(f"Events: {check.log.path}", style="dim", highlight=False, soft_wrap=True)


def _by_name(rules: Sequence[Rule]) -> dict[str, Rule]:
    return {rule.name: rule for rule in rules}


def _print_plan(console: Console, costs: dict[str, Cost]) -> None:
    from rich.table import Table

    from aml_contract.rule import Cost

    table = Table("family", box=None)
    for name in ("Adds", "Searches", "others"):
        table.add_column(name, justify="right")
    for family, cost in sorted(costs.items()):
        table.add_row(family, f"{cost.adds}", f"{cost.searches}", f"{cost.others}")
    total = sum(costs.values(), Cost())
    table.add_row("total", f"{total.adds}", f"{total.searches}", f"{total.others}", style="bold")
    console.print(table)
    console.print("At most, on an endpoint that answers well. Nothing was sent.")
