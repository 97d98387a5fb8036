"""Markdown, for a pull request or the summary of a CI job.

Whatever a server said stands in code, where no markup counts, and escaped elsewhere.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from html import escape

from aml_contract.checking.document import Report
from aml_contract.checking.result import RuleResult
from aml_contract.outcome import Outcome, Verdict
from aml_contract.report.wording import (
    GLANCE,
    NAMES,
    curl_heading,
    families,
    missing,
    reproduction,
    some,
    steps,
    stopped_sentence,
    totals,
    verdict_sentence,
    visible,
)
from aml_contract.rule import Rule

_MOST = 60_000
"""Characters: a comment of a pull request takes 65,536."""
_MARKS = {
    Verdict.CONFORMANT: "✅",
    Verdict.INCOMPLETE: "🟦",
    Verdict.NONCONFORMANT: "❌",
}
_SIGNS = {Outcome.FAILED: "❌", Outcome.WARNED: "⚠️", Outcome.KIT_ERROR: "☠️"}
_SPECIAL = re.compile(r"([\\`*_\[\]|#~@])")


def markdown(report: Report, rules: Mapping[str, Rule]) -> str:
    """The report as Markdown; findings that would make it too long are named only."""
    sentence = _plain(verdict_sentence(report))
    head = [f"## {_MARKS[report.verdict]} {report.verdict}: {sentence}", ""]
    if report.stopped:
        head += [f"**{_plain(stopped_sentence(report))}**", ""]
    head += [*_table(report), ""]
    tail = [*_missing(report), *(f"{_plain(line)}  " for line in totals(report).splitlines())]
    tail += ["", f"aml-contract {report.kit} · run `{report.run}` · seed {report.seed}", ""]
    left = _MOST - len("\n".join([*head, *tail]))
    body: list[str] = []
    for outcome in _SIGNS:
        for result in report.having(outcome):
            text = "\n".join(_finding(report, result, rules.get(result.rule)))
            if len(text) > left:
                text = f"- {_heading(result)} (left out here: the report would be too long)\n"
            left -= len(text) + 1
            body.append(text)
    return visible("\n".join([*head, *body, *tail]))


def _table(report: Report) -> Iterator[str]:
    there = [outcome for outcome in GLANCE if report.having(outcome)]
    yield "| family | " + " | ".join(NAMES[outcome] for outcome in there) + " |"
    yield "| --- |" + " ---: |" * len(there)
    for family, counts in families(report.rules).items():
        cells = (str(counts.get(outcome, "")) for outcome in there)
        yield f"| {family} | " + " | ".join(cells) + " |"


def _heading(result: RuleResult) -> str:
    return (
        f"{_SIGNS[result.outcome]} <b>{result.rule}</b> · {result.level} · clause {result.clause}"
    )


def _finding(report: Report, result: RuleResult, rule: Rule | None) -> Iterator[str]:
    yield f"<details><summary>{_heading(result)}</summary>"
    yield ""
    yield from (f"{_plain(line)}  " for line in result.message.splitlines())
    yield ""
    if rule is not None and result.outcome is not Outcome.KIT_ERROR:
        yield f"- **rule** {_plain(rule.title)}"
        yield f"- **why** {_plain(rule.why)}"
        yield f"- **fix** {_plain(rule.fix)}"
    for note in result.notes:
        yield f"- **note** {_plain(' '.join(note.split()))}"
    if result.exchanges:
        yield ""
        yield "What was sent, and what came back:"
        yield ""
        yield from _fenced("text", *steps(result.exchanges))
        yield f"{_plain(curl_heading(report))}:"
        yield ""
        yield from _fenced("sh", *(made.curl for made in result.exchanges))
    yield "Try it again:"
    yield ""
    yield from _fenced("sh", reproduction(report, result.rule))
    yield "</details>"
    yield ""


def _missing(report: Report) -> Iterator[str]:
    for outcome in (Outcome.NOT_TESTED, Outcome.NOT_APPLICABLE):
        reasons = missing(report, outcome)
        if not reasons:
            continue
        yield f"<details><summary>{NAMES[outcome]}: {len(report.having(outcome))}</summary>"
        yield ""
        for reason, names in reasons.items():
            yield f"- {_plain(' '.join(reason.split()))}: {_plain(some(names))}"
        yield ""
        yield "</details>"
        yield ""


def _fenced(language: str, *lines: str) -> Iterator[str]:
    """A block of code that nothing in it can end."""
    text = "\n".join(lines)
    fence = "`" * max(3, 1 + max((len(run) for run in re.findall("`+", text)), default=0))
    yield f"{fence}{language}"
    yield text
    yield fence
    yield ""


def _plain(text: str) -> str:
    """Text that stays text: no markup, no HTML, no mention."""
    return _SPECIAL.sub(r"\\\1", escape(text, quote=False)).replace("://", "&#58;//")
