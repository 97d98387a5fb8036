"""The words of a report: verdicts, findings and totals as sentences, for every renderer."""

from __future__ import annotations

import re
import shlex
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from urllib.parse import urlsplit

from aml_contract.checking.document import Report
from aml_contract.checking.result import ExchangeRecord, RuleResult, summary_of
from aml_contract.latency import in_words
from aml_contract.outcome import Level, Outcome, Verdict
from aml_contract.rule import Rule

_BODY = 300
"""Characters of a body that is shown beside others."""
_LAST_BODY = 900
"""Characters of the last answer: it is where the finding is."""
_CONTROLS = {n: 0x2400 + n for n in range(0x20) if chr(n) not in "\t\n\r"} | {0x7F: 0x2421}
_CONTROLS |= dict.fromkeys(range(0x80, 0xA0), 0xFFFD)
_NAMED = re.compile(r"\(see ([a-z]+/[a-z-]+)\)")
"""How a reason for not testing names the rule that says what is broken."""

SIGNS = {
    Outcome.PASSED: "✓",
    Outcome.FAILED: "✗",
    Outcome.WARNED: "!",
    Outcome.NOT_APPLICABLE: "–",
    Outcome.NOT_TESTED: "?",
    Outcome.KIT_ERROR: "☠",
}

NAMES = {
    Outcome.PASSED: "passed",
    Outcome.FAILED: "failed",
    Outcome.WARNED: "warned",
    Outcome.NOT_APPLICABLE: "not applicable",
    Outcome.NOT_TESTED: "not tested",
    Outcome.KIT_ERROR: "kit error",
}

ORDER = (
    Outcome.FAILED,
    Outcome.KIT_ERROR,
    Outcome.WARNED,
    Outcome.NOT_TESTED,
    Outcome.NOT_APPLICABLE,
    Outcome.PASSED,
)
"""Outcomes as a reader needs them, the first first."""
GLANCE = (*ORDER[:3], Outcome.PASSED, *ORDER[3:5])
"""Outcomes side by side: what is bad, what is good, and what is not known."""


def verdict_sentence(report: Report) -> str:
    """The verdict and what it rests on; of many failures also which to mend first."""
    must = [result for result in report.rules if result.level is Level.MUST]
    failed = [result for result in must if result.outcome is Outcome.FAILED]
    passed = [r for r in must if r.outcome in (Outcome.PASSED, Outcome.WARNED)]
    untested = [r for r in must if r.outcome in (Outcome.NOT_TESTED, Outcome.KIT_ERROR)]
    match report.verdict:
        case Verdict.NONCONFORMANT:
            rest = f"; {len(untested)} could not be tested" if untested else ""
            of_tested = f"{len(failed)} of {_rules(len(failed) + len(passed), 'MUST')} failed"
            return f"{of_tested}{rest}.{_hint(report)}"
        case Verdict.INCOMPLETE if not report.tested:
            return f"nothing could be tested.{_asking(report)}"
        case Verdict.INCOMPLETE:
            return (
                f"no MUST rule failed ({len(passed)} passed), "
                f"but {len(untested)} could not be tested.{_hint(report)}"
            )
        case Verdict.CONFORMANT if not must:
            return "no MUST rule was among those tried."
        case Verdict.CONFORMANT:
            quick = " Only quick ones were tried; without --quick, all are."
            return (
                f"every MUST rule that applies passed ({len(passed)} of {len(must)})."
                f"{quick if report.settings.quick else ''}"
            )


def missing(report: Report, outcome: Outcome = Outcome.NOT_TESTED) -> dict[str, list[str]]:
    """What was not tested: each reason with the rules it kept from being tried."""
    reasons: dict[str, list[str]] = defaultdict(list)
    for result in report.having(outcome):
        reasons[result.message].append(result.rule)
    return dict(reasons)


def families(results: Iterable[RuleResult]) -> dict[str, dict[Outcome, int]]:
    """How many rules of each family came to what."""
    counts: dict[str, dict[Outcome, int]] = {}
    for result in results:
        family = counts.setdefault(result.family, {})
        family[result.outcome] = family.get(result.outcome, 0) + 1
    return counts


def steps(exchanges: Sequence[ExchangeRecord]) -> list[str]:
    """What was sent and what came back, one line each."""
    return [
        f"{made.method} {made.url} {_short(made.body)} → {answer}"
        for made, answer in zip(exchanges, answers(exchanges), strict=True)
    ]


def answers(exchanges: Sequence[ExchangeRecord]) -> list[str]:
    """What came back, one line each; the content type where it is not JSON's."""
    lines = []
    for number, made in enumerate(exchanges, 1):
        kind = made.reply_headers.get("content-type", "")
        shown = f" ({kind})" if kind and "json" not in kind.lower() else ""
        body = _short(made.reply, _LAST_BODY if number == len(exchanges) else _BODY)
        lines.append(f"{summary_of(made)}{shown} {body} ({in_words(made.seconds)})")
    return lines


def by_weight(results: Iterable[RuleResult]) -> list[RuleResult]:
    """Findings in the order to read them: generated requests often find again what others did."""
    return sorted(results, key=lambda result: (result.family == "fuzz", result.rule))


def finding_text(report: Report, result: RuleResult, rule: Rule | None) -> str:
    """A finding in full, as plain text; without ``rule`` what only the registry knows lacks."""
    about = f"rule  {result.rule} ({result.level}, clause {result.clause})"
    lines = [
        result.message,
        f"{about}: {rule.title}" if rule else about,
        *((f"why   {rule.why}", f"fix   {rule.fix}") if rule else ()),
        *(f"step {number}  {step}" for number, step in enumerate(steps(result.exchanges), 1)),
        *(f"note  {note}" for note in result.notes),
        curl_heading(report),
        *(made.curl for made in result.exchanges),
        f"again: {reproduction(report, result.rule)}",
    ]
    return "\n".join(lines)


def stopped_sentence(report: Report) -> str:
    """Why a run did not come to its end, and how it goes on; empty if it did."""
    if not report.stopped or report.stopped == "unreachable":
        return report.reason or ""
    return (
        f"The run was {report.stopped}; this is what ran. "
        f"It goes on with: aml check --resume {report.run}"
    )


def reproduction(report: Report, rule: str) -> str:
    """The command that tries one rule again: the same steps, or the same course."""
    if any(result.rule == rule and result.repeat for result in report.rules):
        return shlex.join(["aml", "reproduce", f".aml/runs/{report.run}", "--only", rule])
    words = ["aml", "check", *report.endpoint.flags, "--seed", str(report.seed), "--only", rule]
    if report.settings.track != "textual":
        words += ["--track", report.settings.track]
    claimed = report.settings.capabilities
    if "verbatim" not in claimed:
        words += ["--without", "verbatim"]
    if report.settings.track == "multimodal" and "images" not in claimed:
        words += ["--without", "images"]
    return shlex.join(words)


def curl_heading(report: Report) -> str:
    """What to know before pasting the commands."""
    flags = report.endpoint.flags
    notes = []
    if report.endpoint.kind != "url" and report.endpoint.add_url is not None:
        port = urlsplit(report.endpoint.add_url).port
        notes.append(f"the kit's server is gone; start yours on port {port} first")
    if "--key-env" in flags and (variable := flags[flags.index("--key-env") + 1]) != "AML_KEY":
        notes.append(f'the key is read from AML_KEY: export AML_KEY="${variable}"')
    return f"curl ({'; '.join(notes)})" if notes else "curl"


def totals(report: Report) -> str:
    """Requests, time, the endpoint's share of it, and percentiles."""
    sent = report.requests
    lines = [
        f"{_count(sent.total, 'request', 'requests')} ({_count(sent.adds, 'Add', 'Adds')}, "
        f"{_count(sent.searches, 'Search', 'Searches')}, {_count(sent.others, 'other', 'others')})"
        + (f" in {in_words(report.seconds)}" if report.seconds is not None else "")
    ]
    if report.seconds and report.endpoint_seconds is not None:
        share = min(1.0, report.endpoint_seconds / report.seconds)
        lines[0] += f"; the endpoint was at work {share:.0%} of the time"
    lines += [
        f"{operation.capitalize()}: {percentiles}"
        for operation, percentiles in report.latency.items()
    ]
    return "\n".join(lines)


def visible(text: str) -> str:
    """``text`` with signs for what cannot be shown: a server may have sent anything.

    Control characters become their pictures, halves of surrogate pairs are written out.
    """
    return text.encode(errors="backslashreplace").decode().translate(_CONTROLS)


def some(names: Sequence[str], most: int = 6) -> str:
    """The first of the names and how many more there are."""
    more = len(names) - most
    return ", ".join(names[:most]) + (f" and {more} more" if more > 0 else "")


def one_line(result: RuleResult) -> str:
    """A result as a plain line, for logs."""
    first = result.message.partition("\n")[0]
    text = f"{NAMES[result.outcome]:<14} {result.rule}"
    return f"{text}: {first}" if first else f"{text} ({in_words(result.seconds)})"


def _hint(report: Report) -> str:
    """What to do about rules that could not be tested, if another rule says why."""
    return _beginning(report) or _asking(report) or _wavering(report)


def _beginning(report: Report) -> str:
    """Which finding to mend first: the one that keeps most rules from being tried."""
    kept = _kept_by(report, Outcome.FAILED)
    if not kept:
        return ""
    rule, count = kept.most_common(1)[0]
    waits = "1 rule waits" if count == 1 else f"{count} rules wait"
    return f" Begin with {rule}: {waits} for it."


def _wavering(report: Report) -> str:
    """That a rule passed, though others were kept by just what it asks for."""
    kept = _kept_by(report, Outcome.PASSED)
    if not kept:
        return ""
    rule, count = kept.most_common(1)[0]
    others = "1 rule" if count == 1 else f"{count} rules"
    return f" {rule} passed, but kept {others} from being tried: it may hold at times only."


def _kept_by(report: Report, outcome: Outcome) -> Counter[str]:
    """Rules of this outcome that reasons for not testing name, and how many of those do."""
    there = {result.rule for result in report.having(outcome)}
    kept: Counter[str] = Counter()
    for result in report.having(Outcome.NOT_TESTED):
        kept.update(there & set(_NAMED.findall(result.message)))
    return kept


def _asking(report: Report) -> str:
    """The command of the rule that reasons for not testing name, if it was not selected."""
    tried = {result.rule for result in report.rules}
    named: Counter[str] = Counter()
    for result in report.having(Outcome.NOT_TESTED):
        named.update(set(_NAMED.findall(result.message)) - tried)
    if not named:
        return ""
    rule, _ = named.most_common(1)[0]
    return f" {rule} says what is in the way: {reproduction(report, rule)}"


def _rules(count: int, level: str) -> str:
    return _count(count, f"{level} rule", f"{level} rules")


def _count(number: int, one: str, many: str) -> str:
    return f"{number:,} {one if number == 1 else many}"


def _short(text: str, most: int = _BODY) -> str:
    flat = " ".join(text.split())
    return flat if len(flat) <= most else f"{flat[: most - 1]}…"
