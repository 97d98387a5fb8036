"""The tables of what Adds and Searches take."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from statistics import fmean

import numpy as np

from benchmarks import page
from benchmarks.cells import Figures
from benchmarks.intervals import ratio
from benchmarks.measuring.searching import IN_FLIGHT

_PERCENTS = (50, 95, 99)
_WEIGHED = 10_000
"""Messages for which disk and memory are told."""

Added = Mapping[str, Figures]
Searched = Mapping[tuple[str, int], Figures]
"""Figures by memory and number of messages."""


def speed(client: Figures, added: Added, searched: Searched) -> str:
    """All of them."""
    chunk = next(iter(added.values()))["messages"]
    return "\n".join(
        [
            f"Adds, in milliseconds of a chunk of {chunk:.0f} messages on average:\n",
            page.table(
                [
                    *("", "chunks/s", "16 in flight", "HTTP Add", "embedding", "store", "ledger"),
                    *("HTTP", "÷ memory", "÷ library", "CPU of the server"),
                ],
                _adds(added),
            ),
            "Searches, in milliseconds:\n",
            page.table(
                [
                    *("", "messages", "first"),
                    *(f"p{each}" for each in _PERCENTS),
                    *(f"p{each}, 16 in flight" for each in _PERCENTS),
                    *("a second", "Searches timed"),
                ],
                [*_searches(searched), _client(client)],
            ),
            "Searches over HTTP beside calls, in milliseconds on average:\n",
            page.table(
                [
                    *("", "messages", "HTTP", "call", "of it embedding", "÷ memory", "÷ library"),
                    *("CPU of the server", "items", "answer, kB"),
                ],
                _overheads(searched),
            ),
            f"What {_WEIGHED:,} messages take, in MB:\n",
            page.table(
                ["", "disk", "resident, 3 chunks in", "resident, all in", "more"],
                _sizes(added, searched),
            ),
        ]
    )


def _adds(added: Added) -> Iterator[list[str]]:
    for system, found in added.items():
        http, direct, embedding, ledger = (
            fmean(found[name]) for name in ("http", "direct", "embedding", "ledger")
        )
        crowd = found["crowd"]
        yield [
            system,
            f"{1 / http:.1f}",
            f"{crowd['chunks'] / crowd['seconds']:.1f}",
            *map(_ms, (http, embedding, direct - embedding, ledger, http - direct - ledger)),
            *_ratios(found),
            _ms(crowd["cpu"] / crowd["chunks"]),
        ]


def _searches(searched: Searched) -> Iterator[list[str]]:
    for (system, messages), found in searched.items():
        yield [system, f"{messages:,}", _ms(found["first"]), *_latencies(found)]


def _client(found: Figures) -> list[str]:
    return ["(client, bare server)", "", "", *_latencies(found)]


def _latencies(found: Figures) -> list[str]:
    loads = [found[str(in_flight)] for in_flight in IN_FLIGHT]
    counts = [len(load["latencies"]) for load in loads]
    return [
        *(_ms(each) for load in loads for each in np.percentile(load["latencies"], _PERCENTS)),
        f"{counts[-1] / loads[-1]['seconds']:.1f}",
        ", ".join(map(str, counts)),
    ]


def _overheads(searched: Searched) -> Iterator[list[str]]:
    for (system, messages), found in searched.items():
        alone = found[str(IN_FLIGHT[0])]
        yield [
            system,
            f"{messages:,}",
            *(_ms(fmean(found[name])) for name in ("http", "direct", "embedding")),
            *_ratios(found),
            _ms(alone["cpu"] / len(alone["latencies"])),
            str(found["items"]),
            f"{found['bytes'] / 1e3:.0f}",
        ]


def _sizes(added: Added, searched: Searched) -> Iterator[list[str]]:
    for system, begun in added.items():
        sizes = [messages for name, messages in searched if name == system]
        messages = max(size for size in sizes if size <= max(_WEIGHED, min(sizes)))
        found = searched[system, messages]
        more = found["resident"] - begun["empty"]
        disk = found["disk"] * _WEIGHED / messages
        yield [
            f"{system}",
            *(f"{each:.0f}" for each in (disk, begun["empty"], found["resident"], more)),
        ]


def _ratios(found: Figures) -> list[str]:
    """HTTP over the memory, and over the library if it was measured."""
    return [
        "{:.2f} ({:.2f} to {:.2f})".format(*ratio(found["http"], found[name]))
        if name in found
        else ""
        for name in ("direct", "library")
    ]


def _ms(seconds: float) -> str:
    return f"{seconds * 1e3:.1f}"
