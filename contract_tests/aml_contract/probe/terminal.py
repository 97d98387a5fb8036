"""The report on a terminal: sentences, a table for each mode, and what the controls are."""

from __future__ import annotations

from rich.console import Console
from rich.table import Table

from aml_contract.probe.document import ENDPOINT, ProbeReport, Scores
from aml_contract.probe.scoring import CURVES
from aml_contract.probe.stages import STAGES
from aml_contract.probe.wording import (
    COLUMNS,
    MODE_NAMES,
    STAGE_NAMES,
    SYSTEM_NAMES,
    figures_of,
    percent,
    sentences,
    with_interval,
)
from aml_contract.probe.world import Mode

_SHOWN = ("stale_first", "hit", "all", "stale_only", "memory_top", "memory_latest")


def print_report(console: Console, report: ProbeReport) -> None:
    """Print what a probe found; nothing of one that did not come to its end."""
    if report.scores is None:
        return
    for sentence in sentences(report):
        console.print(sentence, markup=False, highlight=False)
    for mode in report.modes:
        console.print()
        console.print(_table(report.scores, mode))
    console.print()
    console.print(_stages(report.scores, report.modes[0]))
    console.print()
    controls = report.controls
    console.print(
        f"BM25: {controls.bm25_tokeniser}; k1 {controls.bm25_k1:g}, b {controls.bm25_b:g}. "
        "In brackets the interval of 95 % over users; of few users it is rough.",
        style="dim",
        markup=False,
        highlight=False,
    )
    for operation, latency in report.latency.items():
        console.print(f"{operation.capitalize()}: {latency}", style="dim", highlight=False)
    if report.retries:
        console.print(f"{report.retries} requests had to be sent again.", highlight=False)


def _table(scores: Scores, mode: Mode) -> Table:
    table = Table(
        title=f"{MODE_NAMES[mode].capitalize()}, the first {CURVES} items",
        title_justify="left",
        box=None,
        pad_edge=False,
    )
    table.add_column("", no_wrap=True)
    for metric in _SHOWN:
        table.add_column(COLUMNS[metric], justify="right")
    for system in scores.systems:
        figures = figures_of(scores, system, mode)
        shown = with_interval if system == ENDPOINT else percent
        table.add_row(
            SYSTEM_NAMES[system],
            *(shown(figures.get(metric)) for metric in _SHOWN),
            style="bold" if system == ENDPOINT else None,
        )
    return table


def _stages(scores: Scores, mode: Mode) -> Table:
    table = Table(
        title=f"Where values are lost, {MODE_NAMES[mode]}",
        title_justify="left",
        box=None,
        pad_edge=False,
    )
    table.add_column("stage")
    for system in scores.systems:
        table.add_column(SYSTEM_NAMES[system], justify="right")
    for stage in STAGES:
        table.add_row(
            STAGE_NAMES[stage],
            *(percent(figures_of(scores, system, mode).get(stage)) for system in scores.systems),
        )
    return table
