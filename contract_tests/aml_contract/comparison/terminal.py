"""Runs side by side on a terminal."""

from __future__ import annotations

from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from aml_contract.comparison.changes import Changes
from aml_contract.comparison.side_by_side import Row, SideBySide
from aml_contract.latency import in_words
from aml_contract.outcome import Outcome
from aml_contract.report.terminal import STYLES
from aml_contract.report.wording import NAMES, SIGNS, by_weight, visible


def print_side_by_side(console: Console, found: SideBySide) -> None:
    """Print what differs; what matters most, the change since the last run, at the end."""
    console.print()
    console.print(_legend(found))
    _print_stages(console, found)
    notable = [row for row in found.rows if not row.passed]
    if notable:
        console.print()
        console.print(_rules(found, notable))
        signs = "  ".join(f"{SIGNS[outcome]} {NAMES[outcome]}" for outcome in Outcome)
        console.print(Text(f"{signs}  · not among those tried", style="dim"), soft_wrap=True)
    passed = len(found.rows) - len(notable)
    if passed:
        words = f"{passed} rules passed wherever they were tried."
        console.print(Text(words, style="dim"))
    console.print()
    console.print(_latency(found))
    for remark in found.remarks:
        console.print()
        console.print(Text(visible(remark), style="yellow"))
    for changes in found.changes:
        _print_changes(console, changes)
    console.print()
    console.print(Text(found.sentence, style="bold"))


def _legend(found: SideBySide) -> Table:
    table = Table("", "verdict", "begun", "endpoint", "report", box=None, pad_edge=False)
    for source in found.sources:
        table.add_row(
            Text(source.letter, style="bold"),
            source.verdict,
            f"{source.started:%Y-%m-%d %H:%M}",
            Text(visible(source.endpoint), overflow="fold"),
            Text(visible(str(source.path)), overflow="fold"),
        )
    return table


def _print_stages(console: Console, found: SideBySide) -> None:
    certified = [source for source in found.sources if source.stages]
    if not certified:
        return
    table = Table("stage", *(source.letter for source in certified), box=None, pad_edge=False)
    for stage in dict.fromkeys(name for source in certified for name in source.stages):
        table.add_row(stage, *(source.stages.get(stage, "·") for source in certified))
    console.print()
    console.print(table)


def _rules(found: SideBySide, rows: list[Row]) -> Table:
    table = Table("rule", "level", box=None, pad_edge=False)
    for source in found.sources:
        table.add_column(source.letter, justify="center")
    for row in rows:
        signs = [
            Text(SIGNS[outcome], style=STYLES[outcome]) if outcome else Text("·", style="dim")
            for outcome in row.outcomes
        ]
        table.add_row(Text(row.rule, style="bold" if row.differs else ""), row.level.value, *signs)
    return table


def _latency(found: SideBySide) -> Table:
    table = Table(
        "latency", "", "requests", "p50", "p95", "p99", "slowest", box=None, pad_edge=False
    )
    for operation in ("add", "search"):
        for source in found.sources:
            if latency := source.report.latency.get(operation):
                figures = (latency.p50, latency.p95, latency.p99, latency.max)
                table.add_row(
                    operation.capitalize(),
                    Text(source.letter, style="bold"),
                    f"{latency.count}",
                    *map(in_words, figures),
                )
    return table


def _print_changes(console: Console, changes: Changes) -> None:
    console.print()
    since = f"From {changes.before.letter} to {changes.after.letter}"
    console.print(Text(f"{since}, {visible(changes.after.endpoint)}: {changes.sentence}"))
    for heading, outcome, results in changes.groups:
        style = STYLES[outcome] if outcome else ""
        console.print(Text(f"  {heading}", style=style))
        for result in by_weight(results):
            first = result.message.partition("\n")[0]
            line = f"{result.rule}: {first}" if first else result.rule
            console.print(Padding(Text(visible(line)), (0, 0, 0, 4), expand=False))
    for line in changes.latency:
        console.print(Padding(Text(line), (0, 0, 0, 2), expand=False))
