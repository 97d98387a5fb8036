"""``aml compare``: endpoints side by side, and what changed since an earlier run."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from aml_cli.running import usage_error
from aml_cli.writing import write_file


def compare(
    reports: Annotated[
        list[Path],
        typer.Argument(
            metavar="REPORT",
            help="Reports of aml check (--json, or a run's directory) and of certifications, "
            "two at least.",
            show_default=False,
        ),
    ],
    html: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Write one HTML page as well, which opens offline."),
    ] = None,
) -> None:
    """Put reports side by side, rule by rule; say what changed between runs of one endpoint.

    Exit codes: 0 done, 2 a file is no report, 3 the page could not be written.
    """
    from aml_cli.console import SteadyConsole
    from aml_contract.comparison.side_by_side import side_by_side
    from aml_contract.comparison.sources import NotComparableError, read_sources
    from aml_contract.comparison.terminal import print_side_by_side

    if len(reports) < 2:
        usage_error("one report cannot be compared: name another, as in `aml compare A B`")
    try:
        found = side_by_side(read_sources(reports))
    except NotComparableError as error:
        usage_error(str(error))
    print_side_by_side(SteadyConsole(), found)
    if html is not None:
        from aml_contract.comparison.html import html as page

        raise typer.Exit(write_file(html, page(found)))
