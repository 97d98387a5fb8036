"""JUnit XML, as CI systems read it: one test case for each rule.

A rule that failed is a *failure*, one that broke the kit an *error*; what warned, was not
tested or does not apply is *skipped*, and its message begins with which of these it is.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from aml_contract.checking.document import Report
from aml_contract.checking.result import RuleResult
from aml_contract.outcome import Outcome
from aml_contract.report.wording import NAMES, finding_text, verdict_sentence
from aml_contract.rule import Rule

_NOT_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_SKIPPED = frozenset({Outcome.WARNED, Outcome.NOT_TESTED, Outcome.NOT_APPLICABLE})


def junit(report: Report, rules: Mapping[str, Rule]) -> str:
    """The report as JUnit XML."""
    skipped = sum(result.outcome in _SKIPPED for result in report.rules)
    counts = {
        "name": "aml-contract",
        "tests": str(len(report.rules)),
        "failures": str(len(report.having(Outcome.FAILED))),
        "errors": str(len(report.having(Outcome.KIT_ERROR))),
        "skipped": str(skipped),
        "time": f"{report.seconds or 0:.3f}",
    }
    suites = Element("testsuites", counts)
    suite = SubElement(suites, "testsuite", {**counts, "timestamp": report.started[:19]})
    _properties(
        suite,
        {
            "aml_verdict": report.verdict.value,
            "aml_summary": verdict_sentence(report),
            "aml_run": report.run,
            "aml_seed": str(report.seed),
            "aml_kit": report.kit,
            "aml_stopped": report.stopped or "",
        },
    )
    for result in report.rules:
        _case(suite, report, result, rules.get(result.rule))
    indent(suites)
    return tostring(suites, encoding="unicode", xml_declaration=False).join(
        ('<?xml version="1.0" encoding="utf-8"?>\n', "\n")
    )


def _case(suite: Element, report: Report, result: RuleResult, rule: Rule | None) -> None:
    named = {"classname": f"aml.{result.family}", "name": result.rule}
    case = SubElement(suite, "testcase", {**named, "time": f"{result.seconds:.3f}"})
    _properties(
        case,
        {
            "aml_rule": result.rule,
            "aml_level": result.level.value,
            "aml_clause": result.clause,
            "aml_outcome": result.outcome.value,
        },
    )
    if result.outcome is Outcome.PASSED:
        return
    first = result.message.partition("\n")[0]
    if result.outcome is Outcome.FAILED:
        made = SubElement(case, "failure", {"message": _clean(first), "type": result.level.value})
    elif result.outcome is Outcome.KIT_ERROR:
        made = SubElement(case, "error", {"message": _clean(first), "type": "KitError"})
    else:
        message = f"{NAMES[result.outcome]}: {first}"
        SubElement(case, "skipped", {"message": _clean(message)})
        if result.outcome is not Outcome.WARNED:
            return
        made = SubElement(case, "system-out")
    made.text = _clean(finding_text(report, result, rule))


def _properties(parent: Element, values: Mapping[str, str]) -> None:
    properties = SubElement(parent, "properties")
    for name, value in values.items():
        if value:
            SubElement(properties, "property", {"name": name, "value": _clean(value)})


def _clean(text: str) -> str:
    """``text`` without what no XML document can hold."""
    return _NOT_XML.sub("\N{REPLACEMENT CHARACTER}", text)
