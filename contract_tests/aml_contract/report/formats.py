"""The formats of reports: each is a function of a report and the registry of rules."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from json import dumps
from pathlib import Path

from aml_contract.checking.document import Report
from aml_contract.report.ctrf import ctrf
from aml_contract.report.html import html
from aml_contract.report.junit import junit
from aml_contract.report.markdown import markdown
from aml_contract.report.sarif import sarif
from aml_contract.report.writing import write_whole
from aml_contract.rule import Rule

Writer = Callable[[Report, Mapping[str, Rule]], str]


def json(report: Report, rules: Mapping[str, Rule]) -> str:
    """The report itself, as ``report.schema.json`` describes it."""
    text = dumps(report.model_dump(mode="json"), ensure_ascii=False, indent=2)
    # Half a surrogate pair has no place in UTF-8, but an escape in JSON.
    return text.encode(errors="backslashreplace").decode() + "\n"


FORMATS: Mapping[str, Writer] = {
    "html": html,
    "json": json,
    "junit": junit,
    "markdown": markdown,
    "sarif": sarif,
    "ctrf": ctrf,
}
"""What writes each format, by the name of its option."""


def write_reports(
    report: Report, rules: Mapping[str, Rule], wanted: Mapping[str, Path]
) -> list[str]:
    """Write a report in the formats that are wanted.

    Args:
        report: what to write.
        rules: the registry, by name.
        wanted: the file of each format.

    Returns:
        What could not be written and why, a sentence each; nothing is left half-written.
    """
    troubles = []
    for name, path in wanted.items():
        try:
            write_whole(path, FORMATS[name](report, rules))
        except OSError as error:
            reason = error.strerror or str(error)
            troubles.append(f"the {name} report was not written to {path}: {reason}")
    return troubles
