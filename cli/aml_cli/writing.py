"""Files that commands write: what keeps one from being written is said, and is no success."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

import typer

if TYPE_CHECKING:
    from aml_contract.checking.document import Report
    from aml_contract.rule import Rule

NOT_WRITTEN = 3
"""Exit code of a command whose file could not be written, if nothing else has one."""


def write_reports(report: Report, rules: Iterable[Rule], wanted: dict[str, Path]) -> int:
    """Write the report in each format that is wanted; say what could not be written.

    Returns:
        0, or :data:`NOT_WRITTEN` if a file is missing.
    """
    if not wanted:
        return 0
    from aml_contract.report.formats import write_reports as write

    return _ended(write(report, {rule.name: rule for rule in rules}, wanted))


def write_file(path: Path, text: str) -> int:
    """Write one file, whole or not at all; say what prevents it.

    Returns:
        0, or :data:`NOT_WRITTEN`.
    """
    from aml_contract.report.writing import write_whole

    try:
        write_whole(path, text)
    except OSError as error:
        return _ended([f"{path} was not written: {error.strerror or error}"])
    return 0


def _ended(troubles: Iterable[str]) -> int:
    code = 0
    for trouble in troubles:
        typer.echo(f"aml: {trouble}", err=True)
        code = NOT_WRITTEN
    return code
