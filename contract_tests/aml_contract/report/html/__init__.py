"""The HTML report: one file that opens offline and asks nobody for anything."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from datetime import datetime

from markupsafe import Markup

from aml_contract.checking.document import Report
from aml_contract.checking.result import RuleResult, summary_of
from aml_contract.exchange import NotStrictJSONError, parse_strict
from aml_contract.outcome import Level
from aml_contract.report.html.frame import Frame
from aml_contract.report.html.plots import plots
from aml_contract.report.wording import (
    GLANCE,
    NAMES,
    ORDER,
    SIGNS,
    curl_heading,
    families,
    reproduction,
    stopped_sentence,
    totals,
    verdict_sentence,
    visible,
)
from aml_contract.rule import Rule

FINDINGS = frozenset(ORDER[:3])
_RULE_NAME = re.compile(r"\b([a-z]+/[a-z0-9.-]*[a-z0-9])\b")
_MOST_OPEN = 5
"""Findings of a report whose findings are shown open."""


def html(report: Report, rules: Mapping[str, Rule]) -> str:
    """The report as one HTML document."""
    frame = Frame("aml_contract.report.html", styles=("report.css",), scripts=("report.js",))
    results = sorted(report.rules, key=lambda one: (ORDER.index(one.outcome), one.rule))
    found = [result for result in results if result.outcome in FINDINGS]
    environment = frame.environment()
    environment.globals |= {
        "NAMES": NAMES,
        "SIGNS": SIGNS,
        "FINDINGS": FINDINGS,
        "reproduction": reproduction,
        "summary_of": summary_of,
        "search_text": _search_text,
    }
    environment.filters["pretty"] = _pretty
    text = environment.get_template("report.html.j2").render(
        report=report,
        rules=rules,
        results=results,
        found=found,
        open_all=len(found) <= _MOST_OPEN,
        sentence=_linked(_capital(verdict_sentence(report)), results),
        stopped=stopped_sentence(report),
        totals=totals(report).splitlines()[0],
        started=datetime.fromisoformat(report.started),
        families=families(report.rules),
        outcomes=[outcome for outcome in ORDER if report.having(outcome)],
        glance=GLANCE,
        levels=[level for level in Level if any(one.level is level for one in report.rules)],
        plots=plots(report),
        curl_heading=curl_heading(report),
        frame=frame,
    )
    return f"{visible(text)}\n"


def _search_text(result: RuleResult, rule: Rule | None) -> str:
    """What the text filter looks in."""
    words = [result.rule, result.clause, result.message, *result.notes]
    return " ".join([*words, rule.title if rule else ""]).casefold()


def _capital(sentence: str) -> str:
    return sentence[:1].upper() + sentence[1:]


def _linked(sentence: str, results: Sequence[RuleResult]) -> Markup:
    """The sentence, with each rule that it names leading to that rule on this page."""
    there = {result.rule for result in results}
    link = Markup('<a href="#{0}" data-rule-link="{0}">{0}</a>')
    parts = _RULE_NAME.split(sentence)
    return Markup("").join(link.format(part) if part in there else part for part in parts)


def _pretty(body: str) -> str:
    """JSON with a line for each member; anything else, broken JSON too, as it is."""
    try:
        return json.dumps(parse_strict(body.encode()), indent=2, ensure_ascii=False)
    except (NotStrictJSONError, ValueError):
        return body
