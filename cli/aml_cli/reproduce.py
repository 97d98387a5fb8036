"""``aml reproduce``: try the findings of an earlier run again."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from aml_cli.options import configured
from aml_cli.running import make_target, usage_error
from aml_contract.config import Resolved


@configured("endpoint", "hooks", "concurrency", "timeout", "only")
def reproduce(
    settings: Resolved,
    file: Annotated[
        Path,
        typer.Argument(
            metavar="FILE", help="A report (--json), or a run's directory under .aml/runs."
        ),
    ],
) -> None:
    """Try the findings of an earlier run again, and say which are still there.

    Exit codes: 0 none is, 1 a MUST rule still fails, and otherwise as `aml check`.
    """
    from aml_cli.check import execute
    from aml_cli.console import SteadyConsole
    from aml_contract.checking.check import RUNS, Check
    from aml_contract.checking.reproduction import (
        NoReportError,
        findings,
        flags_of,
        read_report,
        rules_again,
    )
    from aml_contract.outcome import Outcome
    from aml_contract.rule import Capability, all_rules
    from aml_contract.run import Run, new_run_id

    try:
        report = read_report(file)
    except NoReportError as error:
        usage_error(str(error))
    if not settings.flags_name_endpoint:
        settings = settings.recorded(flags_of(report), str(file))
    target = make_target(settings)
    rules = rules_again(findings(report, settings["only"]), all_rules())
    if not rules:
        typer.echo("There is no finding to try again.")
        return
    run_id = new_run_id()
    before = report.settings
    run = Run(
        seed=report.seed,
        salt=run_id,
        capabilities=frozenset(Capability(name) for name in before.capabilities),
        track=before.track,
    )
    console = SteadyConsole()
    check = Check(
        target,
        rules,
        run,
        strict=before.strict,
        directory=RUNS / run_id,
        run_id=run_id,
        origins=settings.origins,
    )
    code = execute(check, console, settings, command="aml reproduce")
    for result in check.report().rules:
        there = result.outcome in (Outcome.FAILED, Outcome.WARNED)
        tried = there or result.outcome is Outcome.PASSED
        words = "is still there" if there else "is gone" if tried else "could not be tried"
        console.print(f"{result.rule}: the finding {words}", highlight=False)
    raise typer.Exit(code)
