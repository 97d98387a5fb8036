"""``aml report``: a run's report, made from its events, whenever it is wanted."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from aml_cli.options import configured
from aml_cli.running import usage_error
from aml_cli.writing import write_reports
from aml_contract.config import REPORT_FILES, Resolved


@configured(*REPORT_FILES, files=False)
def report(
    settings: Resolved,
    run: Annotated[
        str | None,
        typer.Argument(
            metavar="RUN",
            help="A run's name, its directory, its events, or a report as JSON; "
            "the latest run if not given.",
        ),
    ] = None,
) -> None:
    """Make reports of a run from its events, also of one that was killed.

    Without an option it prints the report. Exit codes: 0 done, 2 there is no such run,
    3 a report could not be written.
    """
    from aml_cli.console import SteadyConsole
    from aml_contract.checking.check import RUNS
    from aml_contract.checking.reproduction import NoReportError, read_report
    from aml_contract.checking.resumption import CannotResume, find_run
    from aml_contract.report.terminal import print_report
    from aml_contract.rule import all_rules

    try:
        named = Path(run) if run and Path(run).is_file() else find_run(run or "latest", RUNS)
        found = read_report(named)
    except (NoReportError, CannotResume) as error:
        usage_error(str(error))
    rules = all_rules()
    wanted = settings.report_files
    if not wanted:
        print_report(SteadyConsole(), found, {rule.name: rule for rule in rules})
        return
    raise typer.Exit(write_reports(found, rules, wanted))
