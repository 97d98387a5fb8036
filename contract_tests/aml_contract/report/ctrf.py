"""CTRF, the Common Test Report Format: one test for each rule."""

from __future__ import annotations

import json
import uuid
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

from aml_contract.checking.document import Report
from aml_contract.checking.result import RuleResult
from aml_contract.outcome import Outcome
from aml_contract.report.wording import finding_text, verdict_sentence
from aml_contract.rule import Rule

_STATUS = {
    Outcome.PASSED: "passed",
    Outcome.FAILED: "failed",
    Outcome.WARNED: "other",
    Outcome.NOT_APPLICABLE: "skipped",
    Outcome.NOT_TESTED: "skipped",
    Outcome.KIT_ERROR: "other",
}
"""What CTRF calls an outcome; ``rawStatus`` has the kit's own word."""


def ctrf(report: Report, rules: Mapping[str, Rule]) -> str:
    """The report as CTRF."""
    statuses = [_STATUS[result.outcome] for result in report.rules]
    began = datetime.fromisoformat(report.started)
    ended = began + timedelta(seconds=report.seconds or 0)
    names = ("passed", "failed", "skipped", "pending", "other")
    document = {
        "reportFormat": "CTRF",
        "specVersion": "0.0.0",
        "reportId": str(uuid.uuid5(uuid.NAMESPACE_URL, f"urn:aml:run:{report.run}")),
        "runId": report.run,
        "timestamp": report.started,
        "generatedBy": "aml-contract",
        "results": {
            "tool": {"name": "aml-contract", "version": report.kit},
            "summary": {
                "tests": len(statuses),
                **{name: statuses.count(name) for name in names},
                "suites": len({result.family for result in report.rules}),
                "start": _milliseconds(began),
                "stop": _milliseconds(ended),
                "extra": {
                    "verdict": report.verdict,
                    "sentence": verdict_sentence(report),
                    "stopped": report.stopped,
                    "seed": report.seed,
                },
            },
            "tests": [_test(report, result, rules.get(result.rule)) for result in report.rules],
        },
    }
    return json.dumps(document, indent=2) + "\n"


def _test(report: Report, result: RuleResult, rule: Rule | None) -> dict[str, Any]:
    test: dict[str, Any] = {
        "name": result.rule,
        "status": _STATUS[result.outcome],
        "rawStatus": result.outcome.value,
        "duration": round(result.seconds * 1000),
        "suite": ["aml-contract", result.family],
        "tags": [result.level.value, *result.clause.split(", ")],
        "labels": {"level": result.level.value, "clause": result.clause},
        "type": "contract",
    }
    if result.message:
        test["message"] = result.message
    if result.outcome in (Outcome.FAILED, Outcome.WARNED, Outcome.KIT_ERROR):
        test["trace"] = finding_text(report, result, rule)
    return test


def _milliseconds(when: datetime) -> int:
    return round(when.timestamp() * 1000)
