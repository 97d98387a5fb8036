"""The end of a session: the verdict, what it rests on, and the reports that were asked for."""

from __future__ import annotations

import os
from collections.abc import Iterator

from aml_contract.checking.document import Report
from aml_contract.pytest_plugin.shared_check import SharedCheck
from aml_contract.pytest_plugin.words import as_options
from aml_contract.report.wording import missing, some, totals, verdict_sentence
from aml_contract.rule import all_rules


def heading(report: Report) -> str:
    """The verdict, as a title."""
    return f"contract: {report.verdict}"


def lines(check: SharedCheck, report: Report) -> Iterator[str]:
    """The verdict in words, what is missing, the figures, and where the events are."""
    yield f"{report.verdict}: {as_options(verdict_sentence(report))}"
    for reason, rules in missing(report).items():
        yield f"  not tested: {as_options(reason)} ({some(rules)})"
    yield from totals(report).splitlines()
    if report.stopped == "interrupted":
        yield "The check was stopped; this is what ran."
    kept = check.trouble or f"events: {os.path.relpath(check.events)}"
    yield f"seed {report.seed}; {kept}"


def write(check: SharedCheck, report: Report) -> list[str]:
    """Write each report that was asked for; what prevented it, a sentence each."""
    wanted = check.settings.report_files
    if not wanted:
        return []
    from aml_contract.report.formats import write_reports  # templates: a second, seldom wanted

    return write_reports(report, {rule.name: rule for rule in all_rules()}, wanted)


def places(check: SharedCheck) -> list[str]:
    """Where each report is that was asked for."""
    files = check.settings.report_files
    return [f"{name} report: {os.path.relpath(path)}" for name, path in files.items()]
