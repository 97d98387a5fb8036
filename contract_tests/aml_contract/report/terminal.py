"""The terminal report: the verdict, the families at a glance, and each finding in full."""

from __future__ import annotations

from collections.abc import Mapping

from rich.console import Console, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from aml_contract.checking.document import Report
from aml_contract.checking.result import RuleResult
from aml_contract.outcome import Outcome, Verdict
from aml_contract.report.wording import (
    NAMES,
    SIGNS,
    answers,
    by_weight,
    curl_heading,
    families,
    missing,
    reproduction,
    some,
    stopped_sentence,
    totals,
    verdict_sentence,
    visible,
)
from aml_contract.rule import Rule

STYLES = {
    Outcome.PASSED: "green",
    Outcome.FAILED: "bold red",
    Outcome.WARNED: "yellow",
    Outcome.NOT_APPLICABLE: "dim",
    Outcome.NOT_TESTED: "cyan",
    Outcome.KIT_ERROR: "bold magenta",
}
_VERDICT_STYLES = {
    Verdict.CONFORMANT: "bold green",
    Verdict.INCOMPLETE: "bold cyan",
    Verdict.NONCONFORMANT: "bold red",
}


def print_report(console: Console, report: Report, rules: Mapping[str, Rule]) -> None:
    """Print everything a builder needs to know about a run, what matters most at the end.

    Args:
        console: where to.
        report: the run.
        rules: the registry, for what a rule is about and how to fix what broke it.
    """
    console.print()
    console.print(_glance(report))
    _print_missing(console, report)
    for outcome in (Outcome.WARNED, Outcome.FAILED, Outcome.KIT_ERROR):
        for result in by_weight(report.having(outcome)):
            _print_finding(console, report, result, rules.get(result.rule))
    console.print()
    console.print(totals(report), style="dim", highlight=False)
    if report.stopped:
        console.print(
            stopped_sentence(report), style="bold yellow", highlight=False, soft_wrap=True
        )
    verdict = Text(f"{report.verdict}: ", style=_VERDICT_STYLES[report.verdict])
    verdict.append(verdict_sentence(report), style="default")
    console.print(verdict)
    for outcome in (Outcome.FAILED, Outcome.WARNED):
        for result in by_weight(report.having(outcome)):
            line = f"  {SIGNS[outcome]} {result.rule}: {result.message.partition(chr(10))[0]}"
            console.print(Text(visible(line), style=STYLES[outcome]), soft_wrap=True)


def _glance(report: Report) -> RenderableType:
    table = Table.grid(padding=(0, 2))
    for family, counts in families(report.rules).items():
        signs = Text()
        for outcome in Outcome:
            if count := counts.get(outcome):
                signs.append(f"{SIGNS[outcome]} {count} {NAMES[outcome]}   ", style=STYLES[outcome])
        table.add_row(Text(family, style="bold"), signs)
    return table


def _print_finding(console: Console, report: Report, result: RuleResult, rule: Rule | None) -> None:
    style = STYLES[result.outcome]
    console.print()
    console.print(
        Text.assemble(
            (f"{SIGNS[result.outcome]} {NAMES[result.outcome]} ", style),
            (result.rule, "bold"),
            f" · {result.level} · clause {result.clause}",
        )
    )
    table = Table.grid(padding=(0, 2))
    table.add_column(style="dim", no_wrap=True, min_width=8)
    table.add_column(overflow="fold")
    table.add_row("  what", Text(visible(result.message)))
    if rule is not None and result.outcome is not Outcome.KIT_ERROR:
        table.add_row("  rule", Text(visible(rule.title)))
        table.add_row("  why", Text(visible(rule.why)))
        table.add_row("  fix", Text(visible(rule.fix)))
    for note in result.notes:
        table.add_row("  note", Text(visible(note)))
    console.print(table)
    if result.exchanges:
        console.print(Text(f"  {curl_heading(report)}", style="dim"))
    for made, answer in zip(result.exchanges, answers(result.exchanges), strict=True):
        _print_command(console, made.curl)
        console.print(Text(visible(f"  → {answer}"), style="dim"), soft_wrap=True)
    console.print(Text("  again", style="dim"))
    _print_command(console, reproduction(report, result.rule))


def _print_command(console: Console, command: str) -> None:
    """Unwrapped and unindented, so that it can be pasted."""
    console.print(Text(visible(command)), soft_wrap=True)


def _print_missing(console: Console, report: Report) -> None:
    for outcome in (Outcome.NOT_APPLICABLE, Outcome.NOT_TESTED):
        reasons = missing(report, outcome)
        if reasons:
            console.print()
            console.print(Text(NAMES[outcome].capitalize(), style=STYLES[outcome]))
        for reason, names in reasons.items():
            _print_indented(console, Text(visible(reason)), 2)
            _print_indented(console, Text(some(names), style="dim"), 4)


def _print_indented(console: Console, text: Text, left: int) -> None:
    """Every line of it, where it is wrapped."""
    console.print(Padding(text, (0, 0, 0, left), expand=False), highlight=False)
