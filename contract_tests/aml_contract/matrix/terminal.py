"""The judgement on a matrix, printed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rich.console import Console
from rich.markup import escape

from aml_contract.matrix.summary import Found, Summary

_SHOWN = 20
"""Findings of a kind that are printed; the documents hold all."""


def print_judgement(
    console: Console, summary: Summary, troubles: Mapping[tuple[str, int], str]
) -> None:
    """Print what is wrong and the numbers; ``troubles`` says why servers were not tried."""
    _print_found(console, "Killers that do not kill", summary.survivors)
    _print_found(console, "Findings on healthy servers beyond their lists", summary.beyond)
    _print_found(console, "Errors of the kit", summary.kit_errors)
    if summary.unseen:
        lines = [f"{one.server}: {one.rule} ({one.why})" for one in summary.unseen]
        _print_lines(console, "Listed findings that were not seen", lines)
    if summary.missing:
        reasons = {server: words for (server, _), words in troubles.items()}
        lines = [
            f"{server}: {checks} check{'s' * (checks > 1)} lack cells"
            + (f"; {reasons[server]}" if server in reasons else "")
            for server, checks in summary.missing.items()
        ]
        _print_lines(console, "Servers that were not tried to the end", lines)
    _print_numbers(console, summary)


def _print_found(console: Console, title: str, found: Sequence[Found]) -> None:
    if found:
        lines = [f"{one.server}, seed {one.seed}: {one.rule} {one.message}" for one in found]
        _print_lines(console, title, lines)


def _print_lines(console: Console, title: str, lines: Sequence[str]) -> None:
    console.print(f"\n[bold red]{title}[/] ({len(lines)})", highlight=False)
    for line in lines[:_SHOWN]:
        console.print(f"  {escape(line)}", highlight=False, soft_wrap=True)
    if len(lines) > _SHOWN:
        console.print(f"  and {len(lines) - _SHOWN} more; --markdown writes them all")


def _print_numbers(console: Console, summary: Summary) -> None:
    n = summary.numbers
    colour = "green" if summary.good else "red"
    verdict = "All is as it should be" if summary.good else "Not all is as it should be"
    console.print(
        f"\n[bold {colour}]{verdict}.[/] {n.killed} of {n.kills} killers kill on {n.broken} broken "
        f"servers; {n.beyond} findings beyond their lists in {n.healthy_runs} checks of "
        f"{n.healthy} healthy servers. {n.cells} cells, {n.rules} rules, {n.collateral} findings "
        f"on broken servers beside those they were made for.",
        highlight=False,
    )
