"""Latency as pictures: each request over the run, and how all of them are spread."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from aml_contract.checking.document import Report
from aml_contract.checking.samples import Samples
from aml_contract.latency import Latency
from aml_contract.report.html.axes import (
    Scale,
    Tick,
    across,
    around,
    in_units,
    linear_marks,
    log_marks,
    path_of,
    upwards,
)


@dataclass(frozen=True)
class Plot:
    """One picture: coordinates in its own units, of which it is 640 wide and 240 high."""

    points: list[tuple[float, float]]
    x: list[Tick]
    y: list[Tick]
    lines: list[Tick]
    """Percentiles to be drawn across; ``at`` is their height or place."""

    @property
    def path(self) -> str:
        """The points as a line."""
        return path_of(self.points)


@dataclass(frozen=True)
class Curve:
    """How the answers of one run are spread, beside those of others."""

    name: str
    path: str
    label: tuple[float, float]
    """Where its name stands."""


@dataclass(frozen=True)
class Curves:
    """Several spreads in one picture of the size of a :class:`Plot`."""

    curves: list[Curve]
    x: list[Tick]
    y: list[Tick]


@dataclass(frozen=True)
class Latencies:
    """The pictures of one kind of request, and its percentiles."""

    operation: str
    latency: Latency
    over_run: Plot
    spread: Plot


def plots(report: Report) -> list[Latencies]:
    """The pictures of a run; none of what was not measured."""
    return [
        _latencies(operation, report.latency[operation], samples)
        for operation, samples in report.samples.items()
        if operation in report.latency
    ]


def together(spreads: Mapping[str, Samples]) -> Curves:
    """The spreads of several runs on the same axes, each with its name at a height of its own."""
    seconds = [max(cut, 1e-5) for samples in spreads.values() for cut in samples.quantiles]
    low, high = around(min(seconds), max(seconds))
    took_at, share = across(low, high, log=True), upwards(0, 100)
    curves = []
    for number, (name, samples) in enumerate(spreads.items(), 1):
        points = [(took_at(took), share(n)) for n, took in enumerate(samples.quantiles)]
        label = points[round(100 * number / (len(spreads) + 1))]
        curves.append(Curve(name, path_of(points), label))
    return Curves(
        curves,
        x=[Tick(took_at(mark), in_units(mark)) for mark in log_marks(low, high)],
        y=_shares(share),
    )


def _latencies(operation: str, latency: Latency, samples: Samples) -> Latencies:
    seconds = [max(seconds, 1e-5) for _, seconds in samples.points]
    fastest, slowest = min(seconds), max(seconds)
    low, high = around(fastest, slowest)
    end = max((when for when, _ in samples.points), default=0.0) or 1.0
    time, up = across(0, end), upwards(low, high, log=True)
    took_at, share = across(low, high, log=True), upwards(0, 100)
    marks = log_marks(low, high)
    percentiles = {"p50": latency.p50, "p95": latency.p95, "p99": latency.p99}
    return Latencies(
        operation,
        latency,
        over_run=Plot(
            points=[(time(when), up(took)) for when, took in samples.points],
            x=[Tick(time(at), f"{at:g} s") for at in linear_marks(end)],
            y=[Tick(up(mark), in_units(mark)) for mark in marks],
            lines=_apart([Tick(up(value), name) for name, value in percentiles.items()], 20),
        ),
        spread=Plot(
            points=[(took_at(took), share(n)) for n, took in enumerate(samples.quantiles)],
            x=[Tick(took_at(mark), in_units(mark)) for mark in marks],
            y=_shares(share),
            lines=_apart([Tick(took_at(value), name) for name, value in percentiles.items()], 48),
        ),
    )


def _apart(lines: Sequence[Tick], room: float) -> list[Tick]:
    """Lines with room for their names: of those too near each other one has both names."""
    kept: list[Tick] = []
    for line in lines:
        if kept and abs(line.at - kept[-1].at) < room:
            kept[-1] = Tick(line.at, f"{kept[-1].text}, {line.text}")
        else:
            kept.append(line)
    return kept


def _shares(share: Scale) -> list[Tick]:
    return [Tick(share(n), f"{n} %") for n in (0, 25, 50, 75, 100)]
