"""``aml reproduce``: try the findings of an earlier run again."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from aml_cli import target_options as options
from aml_cli.target_options import make_target, usage_error


def reproduce(
    file: Annotated[
        Path,
        typer.Argument(
            metavar="FILE", help="A report (--json), or a run's directory under .aml/runs."
        ),
    ],
    only: Annotated[
        list[str] | None,
        typer.Option(metavar="FAMILY_OR_RULE", help="Try only these findings; repeatable."),
    ] = None,
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
    timeout: options.Timeout = 1800.0,
) -> None:
    """Try the findings of an earlier run again, and say which are still there.

    Exit codes: 0 none is, 1 a MUST rule still fails, and otherwise as `aml check`.
    """
    from rich.console import Console

    from aml_cli.check import execute
    from aml_contract.checking.check import RUNS, Check
    from aml_contract.checking.reproduction import (
        NoReportError,
        findings,
        read_report,
        rules_again,
        target_of,
    )
    from aml_contract.outcome import Outcome
    from aml_contract.rule import Capability, all_rules
    from aml_contract.run import Run, new_run_id

    try:
        report = read_report(file)
    except NoReportError as error:
        usage_error(str(error))
    given = {
        "url": url,
        "add_url": add_url,
        "search_url": search_url,
        "health_url": health_url,
        "cmd": cmd,
        "app": app,
        "system": system,
    }
    if any(given.values()):
        target = make_target(
            **given,
            data_dir=data,
            auth=auth,
            key_env=key_env,
            concurrency=concurrency,
            timeout=timeout,
        )
    else:
        target = make_target(**target_of(report))
    rules = rules_again(findings(report, only or ()), all_rules())
    if not rules:
        typer.echo("There is no finding to try again.")
        return
    run_id = new_run_id()
    settings = report.settings
    run = Run(
        seed=report.seed,
        salt=run_id,
        capabilities=frozenset(Capability(name) for name in settings.capabilities),
        track=settings.track,
    )
    console = Console()
    check = Check(
        target, rules, run, strict=settings.strict, directory=RUNS / run_id, run_id=run_id
    )
    code = execute(check, console, command="aml reproduce")
    for result in check.report().rules:
        there = result.outcome in (Outcome.FAILED, Outcome.WARNED)
        tried = there or result.outcome is Outcome.PASSED
        words = "is still there" if there else "is gone" if tried else "could not be tried"
        console.print(f"{result.rule}: the finding {words}", highlight=False)
    raise typer.Exit(code)
