"""SARIF 2.1.0, for code scanning: a result for each rule that failed or warned.

Code scanning shows what has a place in a file. An endpoint has none, so the place is the
line that names it: in ``aml.toml`` or ``pyproject.toml`` if it came from there, else line 1
of an ``aml.toml`` that need not exist.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from aml_contract.checking.document import Report
from aml_contract.checking.result import ExchangeRecord, RuleResult
from aml_contract.config.settings import CHOOSERS
from aml_contract.outcome import Level, Outcome
from aml_contract.report.wording import finding_text, missing, some, verdict_sentence
from aml_contract.rule import Rule

_SCHEMA = (
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
)
_LEVELS = {Level.MUST: "error", Level.SHOULD: "warning", Level.MAY: "note"}


def sarif(report: Report, rules: Mapping[str, Rule]) -> str:
    """The report as SARIF."""
    known = [result.rule for result in report.rules]
    run = {
        "tool": {
            "driver": {
                "name": "aml-contract",
                "version": report.kit,
                "rules": [_rule(result, rules.get(result.rule)) for result in report.rules],
            }
        },
        "automationDetails": {"id": f"aml-contract/{report.settings.track}/{report.run}"},
        "invocations": [_invocation(report)],
        "results": [
            _result(report, result, rules.get(result.rule), known.index(result.rule))
            for result in report.rules
            if result.outcome in (Outcome.FAILED, Outcome.WARNED)
        ],
        "properties": {"verdict": report.verdict, "sentence": verdict_sentence(report)},
    }
    return json.dumps({"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}, indent=2) + "\n"


def _rule(result: RuleResult, rule: Rule | None) -> dict[str, Any]:
    described: dict[str, Any] = {
        "id": result.rule,
        "defaultConfiguration": {"level": _LEVELS[result.level]},
        "properties": {
            "tags": [result.level.value, *result.clause.split(", ")],
            "clause": result.clause,
        },
    }
    if rule is not None:
        described |= {
            "shortDescription": {"text": rule.title},
            "fullDescription": {"text": rule.why},
            "help": {"text": f"Why: {rule.why}\nFix: {rule.fix}"},
        }
    return described


def _result(report: Report, result: RuleResult, rule: Rule | None, index: int) -> dict[str, Any]:
    failed = result.outcome is Outcome.FAILED
    made: dict[str, Any] = {
        "ruleId": result.rule,
        "ruleIndex": index,
        "level": "error" if failed else "note" if result.level is Level.MAY else "warning",
        "message": {"text": finding_text(report, result, rule)},
        "locations": [_location(report)],
        "partialFingerprints": {"amlRule/v1": result.rule},
    }
    if result.exchanges:
        made |= _web(result.exchanges)
    return made


def _location(report: Report) -> dict[str, Any]:
    origins = report.settings.origins
    file, line = "aml.toml", 1
    for name in (*CHOOSERS, "add_url"):
        path, _, number = origins.get(name, "").rpartition(":")
        if path.endswith(".toml") and number.isdigit() and not path.startswith(("/", "..")):
            file, line = path, int(number)
            break
    url = report.endpoint.add_url or report.endpoint.kind
    return {
        "physicalLocation": {
            "artifactLocation": {"uri": file},
            "region": {"startLine": line},
        },
        "logicalLocations": [{"fullyQualifiedName": url, "kind": "resource"}],
    }


def _web(exchanges: Sequence[ExchangeRecord]) -> dict[str, Any]:
    """The last exchange of a finding: mostly the one that shows it."""
    made = exchanges[-1]
    request = {
        "target": made.url,
        "method": made.method,
        "headers": made.headers,
        "body": {"text": made.body},
    }
    response: dict[str, Any] = {
        "headers": made.reply_headers,
        "body": {"text": made.reply},
        "noResponseReceived": made.status is None,
    }
    if made.status is not None:
        response["statusCode"] = made.status
    return {"webRequest": request, "webResponse": response}


def _invocation(report: Report) -> dict[str, Any]:
    began = datetime.fromisoformat(report.started)
    ended = began + timedelta(seconds=report.seconds or 0)
    broken = report.having(Outcome.KIT_ERROR)
    notifications = [
        {"level": "error", "message": {"text": f"{result.rule}: {result.message}"}}
        for result in broken
    ]
    notifications += [
        {"level": "note", "message": {"text": f"not tested: {some(names)}: {reason}"}}
        for reason, names in missing(report).items()
    ]
    return {
        "executionSuccessful": not broken and not report.stopped,
        "startTimeUtc": began.strftime("%Y-%m-%dT%H:%M:%S.%fZ"),
        "endTimeUtc": ended.strftime("%Y-%m-%dT%H:%M:%S.%fZ"),
        "toolExecutionNotifications": notifications,
    }
