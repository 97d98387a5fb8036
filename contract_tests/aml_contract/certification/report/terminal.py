"""The end of a certification on a terminal: problems, the verdict, and what to do next."""

from __future__ import annotations

from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from aml_contract.certification.document import Certification
from aml_contract.certification.stage import ORDER, Problem, StageVerdict
from aml_contract.latency import in_words
from aml_contract.report.wording import visible

SIGNS = {
    StageVerdict.PASS: "✓",
    StageVerdict.FAIL: "✗",
    StageVerdict.INCONCLUSIVE: "~",
    StageVerdict.INCOMPLETE: "?",
}
STYLES = {
    StageVerdict.PASS: "bold green",
    StageVerdict.FAIL: "bold red",
    StageVerdict.INCONCLUSIVE: "yellow",
    StageVerdict.INCOMPLETE: "cyan",
}


def print_certification(console: Console, report: Certification) -> None:
    """Print what whoever certifies needs to know, what matters most at the end."""
    remarks = [
        (result.stage, problem)
        for result in report.stages
        for problem in result.judgement.problems
        if not problem.counts
    ]
    _print_problems(console, "Remarks", remarks)
    _print_problems(console, "Problems", report.problems)
    console.print()
    console.print(_glance(report))
    if report.stopped and report.stopped.reason:
        console.print()
        console.print(
            Text(visible(report.stopped.reason), style="yellow"), highlight=False, soft_wrap=True
        )
    console.print()
    verdict = Text(f"{report.verdict}: ", style=STYLES[report.verdict])
    verdict.append(visible(report.reason), style="default")
    console.print(verdict, soft_wrap=True)
    console.print(Text(visible(report.advice)), soft_wrap=True)


def _glance(report: Certification) -> Table:
    """The stages at a glance, also those that were not measured."""
    results = {result.stage: result for result in report.stages}
    table = Table.grid(padding=(0, 2))
    for name in ORDER:
        if name not in results:
            table.add_row(Text("–", style="dim"), name, Text("not measured", style="dim"), "")
            continue
        verdict = results[name].judgement.verdict
        table.add_row(
            Text(SIGNS[verdict], style=STYLES[verdict]),
            Text(name, style="bold"),
            Text(verdict, style=STYLES[verdict]),
            Text(in_words(results[name].seconds), style="dim"),
        )
    return table


def _print_problems(console: Console, title: str, problems: list[tuple[str, Problem]]) -> None:
    if not problems:
        return
    console.print()
    console.print(Text(title, style="bold"))
    for stage, problem in problems:
        clause = f" (clause {problem.clause})" if problem.clause else ""
        _print_indented(console, f"{stage}: {visible(problem.sentence)}{clause}", 2)
        if problem.fix:
            _print_indented(console, f"→ {visible(problem.fix)}", 4)


def _print_indented(console: Console, text: str, left: int) -> None:
    console.print(Padding(Text(text), (0, 0, 0, left), expand=False), highlight=False)
