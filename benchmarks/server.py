"""What the contract costs: the SDK's server beside a bare one, with a memory that does nothing.

    python -m benchmarks.server [--write]

A bare Starlette route validates the same models and answers the same. Both are sent the same
requests, in turns, 16 in flight, by wrk (without it by aiohttp, which bounds the rates; the
server's CPU time remains). ``--only`` names a workload.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from statistics import fmean

from benchmarks import command, page
from benchmarks.cells import Cell, Cells, Figures
from benchmarks.measuring.rivalry import WORKLOADS, rivalry

_ROUNDS, _SECONDS = 6, 2.0
_NAMES = {"bare": "bare Starlette", "sdk": "SDK", "threads": "SDK as `aml serve`"}
_AIM = 0.7


def table(figures: Mapping[str, Figures]) -> str:
    """A line for each workload and server."""
    return page.table(
        ["", "", "requests/s", "of the bare one's", "lowest, highest round", "µs of CPU"],
        [row for workload in figures for row in _rows(workload, figures[workload])],
    )


def _rows(workload: str, measured: Figures) -> list[list[str]]:
    rows = []
    for app, name in _NAMES.items():
        rates = [each["rate"] for each in measured[app]]
        cpu = fmean(each["cpu"] for each in measured[app]) * 1e6
        ratios = [rate / bare["rate"] for rate, bare in zip(rates, measured["bare"], strict=True)]
        share = fmean(rates) / fmean(each["rate"] for each in measured["bare"])
        told = (
            ["", ""] if app == "bare" else [f"{share:.2f}", f"{min(ratios):.2f}, {max(ratios):.2f}"]
        )
        rows.append([workload, name, f"{fmean(rates):,.0f}", *told, f"{cpu:.0f}"])
    return rows


def main() -> None:
    """Measure, and print or write the table."""
    parser = command.options(__doc__)
    options = command.parsed(parser, list(WORKLOADS))
    rounds, seconds = (1, 1.0) if options.tiny else (_ROUNDS, _SECONDS)
    cells = [
        Cell(name, 5 + 3 * (rounds + 1) * seconds, partial(rivalry, name, rounds, seconds))
        for name in options.only
    ]
    made = Cells(options.work, "server").figures(cells)
    figures = dict(zip(options.only, made, strict=True))
    origin = page.origin(made, options.work)
    clients = {each["client"] for each in made}
    sent = f"Sent by {' and '.join(sorted(clients))}."
    command.publish(options, "server", f"{origin} {sent}\n\n{table(figures)}")


if __name__ == "__main__":
    main()
