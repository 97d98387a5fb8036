"""Reports as files: what the settings ask for, written, and what prevented it."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

import typer

if TYPE_CHECKING:
    from aml_contract.checking.document import Report
    from aml_contract.config import Resolved
    from aml_contract.rule import Rule

FORMAT_NAMES = ("html", "json", "junit", "markdown", "sarif", "ctrf")
"""The settings that name files; :mod:`aml_contract.report.formats` has a writer for each."""

NOT_WRITTEN = 3
"""Exit code of a command whose report could not be written, if nothing else has one."""


def wanted_files(settings: Resolved) -> dict[str, Path]:
    """The file of each format that is asked for."""
    return {name: path for name in FORMAT_NAMES if (path := settings.get(name))}


def write_reports(report: Report, rules: Iterable[Rule], wanted: dict[str, Path]) -> int:
    """Write each file that is wanted; say what could not be written.

    Returns:
        0, or :data:`NOT_WRITTEN` if a file is missing.
    """
    if not wanted:
        return 0
    from aml_contract.report.formats import write_reports as write

    troubles = write(report, {rule.name: rule for rule in rules}, wanted)
    for trouble in troubles:
        typer.echo(f"aml: {trouble}", err=True)
    return NOT_WRITTEN if troubles else 0
