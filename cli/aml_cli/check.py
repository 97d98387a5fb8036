"""``aml check``: judge an endpoint."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from aml_cli import target_options as options
from aml_cli.running import until_interrupted, write_report
from aml_cli.target_options import make_target, usage_error

if TYPE_CHECKING:
    from rich.console import Console

    from aml_contract.checking.check import Check
    from aml_contract.rule import Cost, Rule

_RUN = "Run"
_RESULT = "Result"


class Track(StrEnum):
    """The leaderboard's tracks."""

    TEXTUAL = "textual"
    CODING = "coding"
    MULTIMODAL = "multimodal"


class Declinable(StrEnum):
    """Capabilities that an endpoint may decline."""

    VERBATIM = "verbatim"
    IMAGES = "images"
    DEFERRED_ADD = "deferred_add"


def check(
    url: options.Url = None,
    add_url: options.AddUrl = None,
    search_url: options.SearchUrl = None,
    health_url: options.HealthUrl = None,
    cmd: options.Cmd = None,
    app: options.App = None,
    system: options.System = None,
    data: options.Data = None,
    auth: options.AuthScheme = "none",
    key_env: options.KeyEnv = None,
    concurrency: options.Concurrency = 16,
    add_concurrency: options.AddConcurrency = None,
    search_concurrency: options.SearchConcurrency = None,
    timeout: options.Timeout = 1800.0,
    only: Annotated[
        list[str] | None,
        typer.Option(
            metavar="FAMILY_OR_RULE", help="Try only these; repeatable.", rich_help_panel=_RUN
        ),
    ] = None,
    quick: Annotated[
        bool,
        typer.Option("--quick", help="MUST rules with few requests.", rich_help_panel=_RUN),
    ] = False,
    time: Annotated[
        float | None,
        typer.Option(
            metavar="SECONDS",
            min=0,
            help="Start no further rule after this time; end those under way 30 s later.",
            rich_help_panel=_RUN,
        ),
    ] = None,
    fuzz_budget: Annotated[
        float,
        typer.Option(
            metavar="SECONDS",
            min=0,
            help="How long requests are generated (fuzz/*), in all; 0 for not at all.",
            rich_help_panel=_RUN,
        ),
    ] = 20.0,
    seed: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            help="Choose the course of the run; random if not given.",
            rich_help_panel=_RUN,
        ),
    ] = None,
    track: Annotated[
        Track, typer.Option(help="What the endpoint is entered for.", rich_help_panel=_RUN)
    ] = Track.TEXTUAL,
    without: Annotated[
        list[Declinable] | None,
        typer.Option(help="Decline a capability, visibly; repeatable.", rich_help_panel=_RUN),
    ] = None,
    plan: Annotated[
        bool,
        typer.Option(
            "--plan",
            help="Print how many requests would be sent; send none.",
            rich_help_panel=_RUN,
        ),
    ] = False,
    json: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Write the report as JSON.", rich_help_panel=_RESULT),
    ] = None,
    strict: Annotated[
        bool,
        typer.Option("--strict", help="Broken SHOULD rules fail too.", rich_help_panel=_RESULT),
    ] = False,
    require_all: Annotated[
        bool,
        typer.Option(
            "--require-all",
            help="Exit with 6 if a MUST rule could not be tested.",
            rich_help_panel=_RESULT,
        ),
    ] = False,
    restart_cmd: options.RestartCmd = None,
    fault_cmd: options.FaultCmd = None,
    heal_cmd: options.HealCmd = None,
) -> None:
    """Judge an endpoint by the contract.

    Exit codes: 0 no MUST rule failed, 1 one failed (or a SHOULD with --strict), 2 usage,
    3 error of the kit, 4 nothing answers, 5 nothing tested, 6 incomplete with
    --require-all, 130 interrupted (what ran is still reported).
    """
    import secrets

    from aml_cli.console import SteadyConsole
    from aml_contract.checking.check import RUNS, Check, capabilities_of, means_of
    from aml_contract.checking.selection import UnknownRuleError, select
    from aml_contract.checking.selection import plan as plan_of
    from aml_contract.rule import Capability, all_rules
    from aml_contract.run import Run, new_run_id

    target = make_target(
        url=url,
        add_url=add_url,
        search_url=search_url,
        health_url=health_url,
        cmd=cmd,
        app=app,
        system=system,
        data_dir=data,
        auth=auth,
        key_env=key_env,
        concurrency=concurrency,
        add_concurrency=add_concurrency,
        search_concurrency=search_concurrency,
        timeout=timeout,
        restart_cmd=restart_cmd,
        fault_cmd=fault_cmd,
        heal_cmd=heal_cmd,
    )
    try:
        selected = select(all_rules(), only or (), quick=quick)
    except UnknownRuleError as error:
        usage_error(str(error))
    run_id = new_run_id()
    run = Run(
        seed=secrets.randbelow(2**31) if seed is None else seed,
        salt=run_id,
        capabilities=capabilities_of(target, track, [Capability(name) for name in without or ()]),
        quick=quick,
        track=track,
        fuzz_budget=fuzz_budget,
    )
    console = SteadyConsole()
    if plan:
        _print_plan(console, plan_of(selected, means_of(target, run)))
        return
    made = Check(
        target, selected, run, budget=time, strict=strict, directory=RUNS / run_id, run_id=run_id
    )
    raise typer.Exit(execute(made, console, json, require_all=require_all))


def execute(
    check: Check,
    console: Console,
    json: Path | None = None,
    *,
    require_all: bool = False,
    command: str = "aml check",
) -> int:
    """Run the check, print and write its report; the exit code."""
    from aml_contract.checking.document import exit_code
    from aml_contract.report.progress import ProgressView

    _print_header(console, check, command)
    with ProgressView(console, len(check.rules)) as view:
        check.view = view
        until_interrupted(check.execute())
    report = check.report()
    if check.unreachable:
        typer.echo(f"aml: {check.unreachable}", err=True)
    else:
        _print_outcome(console, check)
    if json is not None:
        write_report(json, report.model_dump_json(indent=2))
    return exit_code(report, require_all=require_all)


def _print_header(console: Console, check: Check, command: str) -> None:
    target, run = check.target, check.run
    key = f" · key as {target.auth} from ${target.key_env}" if target.key else ""
    console.print(
        f"{command} · {len(check.rules)} rules · seed {run.seed} · "
        f"{target.concurrency} at once · {run.track}{key}",
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
