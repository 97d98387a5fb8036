"""The files of a certification's report."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from aml_contract.certification.contract import ContractData, ContractStage
from aml_contract.certification.document import Certification
from aml_contract.certification.report.html import html
from aml_contract.report.html import html as contract_html
from aml_contract.report.writing import write_whole
from aml_contract.rule import all_rules


def write_reports(directory: Path, report: Certification) -> list[str]:
    """Write ``report.json``, ``report.html`` and ``contract.html``, to which that leads.

    Args:
        directory: where to.
        report: what it came to.

    Returns:
        What could not be written and why, a sentence each; nothing is left half-written.
    """
    troubles = []
    for name, text in _texts(report):
        path = directory / name
        try:
            write_whole(path, text)
        except OSError as error:
            troubles.append(f"{path} was not written: {error.strerror or error}")
    return troubles


def _texts(report: Certification) -> Iterator[tuple[str, str]]:
    yield "report.json", report.model_dump_json(indent=2) + "\n"
    yield "report.html", html(report)
    for result in report.stages:
        if result.stage == ContractStage.name:
            check = ContractData.model_validate(result.data).report
            yield "contract.html", contract_html(check, {rule.name: rule for rule in all_rules()})
