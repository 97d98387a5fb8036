"""Latency as pictures: each request over the run, and how all of them are spread."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from aml_contract.checking.document import Report
from aml_contract.checking.samples import Samples
from aml_contract.latency import Latency

WIDTH, HEIGHT = 640, 240
_LEFT, _RIGHT, _TOP, _BOTTOM = 64, 12, 12, 36
_STEPS = (1, 2, 5)


@dataclass(frozen=True)
class Tick:
    """A mark on an axis: where, and what it says."""

    at: float
    text: str


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


@dataclass(frozen=True)
class _Scale:
    """From values to places; logarithmic if ``log``."""

    low: float
    high: float
    start: float
    end: float
    log: bool = False

    def __call__(self, value: float) -> float:
        low, high, value = (
            (math.log10(each) for each in (self.low, self.high, max(value, self.low)))
            if self.log
            else (self.low, self.high, value)
        )
        return round(self.start + (value - low) / (high - low) * (self.end - self.start), 1)


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
    low, high = _around(min(seconds), max(seconds))
    across = _Scale(low, high, _LEFT, WIDTH - _RIGHT, log=True)
    share = _Scale(0, 100, HEIGHT - _BOTTOM, _TOP)
    curves = []
    for number, (name, samples) in enumerate(spreads.items(), 1):
        points = [(across(took), share(n)) for n, took in enumerate(samples.quantiles)]
        label = points[round(100 * number / (len(spreads) + 1))]
        curves.append(Curve(name, path_of(points), label))
    return Curves(
        curves,
        x=[Tick(across(mark), _in_words(mark)) for mark in _log_ticks(low, high)],
        y=_shares(share),
    )


def path_of(points: Sequence[tuple[float, float]]) -> str:
    """Points as a line of SVG."""
    return " ".join(f"{'L' if n else 'M'}{x} {y}" for n, (x, y) in enumerate(points))


def _latencies(operation: str, latency: Latency, samples: Samples) -> Latencies:
    seconds = [max(seconds, 1e-5) for _, seconds in samples.points]
    fastest, slowest = min(seconds), max(seconds)
    low, high = _around(fastest, slowest)
    end = max((when for when, _ in samples.points), default=0.0) or 1.0
    time = _Scale(0, end, _LEFT, WIDTH - _RIGHT)
    up = _Scale(low, high, HEIGHT - _BOTTOM, _TOP, log=True)
    across = _Scale(low, high, _LEFT, WIDTH - _RIGHT, log=True)
    share = _Scale(0, 100, HEIGHT - _BOTTOM, _TOP)
    marks = _log_ticks(low, high)
    percentiles = {"p50": latency.p50, "p95": latency.p95, "p99": latency.p99}
    return Latencies(
        operation,
        latency,
        over_run=Plot(
            points=[(time(when), up(took)) for when, took in samples.points],
            x=[Tick(time(at), f"{at:g} s") for at in _linear_ticks(end)],
            y=[Tick(up(mark), _in_words(mark)) for mark in marks],
            lines=_apart([Tick(up(value), name) for name, value in percentiles.items()], 20),
        ),
        spread=Plot(
            points=[(across(took), share(n)) for n, took in enumerate(samples.quantiles)],
            x=[Tick(across(mark), _in_words(mark)) for mark in marks],
            y=_shares(share),
            lines=_apart([Tick(across(value), name) for name, value in percentiles.items()], 48),
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


def _around(fastest: float, slowest: float) -> tuple[float, float]:
    """Round values, one below and one above."""
    low = max(step for step in _round_steps(fastest) if step < fastest)
    return low, min(step for step in _round_steps(slowest) if step > slowest)


def _shares(share: _Scale) -> list[Tick]:
    return [Tick(share(n), f"{n} %") for n in (0, 25, 50, 75, 100)]


def _in_words(seconds: float) -> str:
    return f"{seconds * 1000:g} ms" if seconds < 0.9999 else f"{seconds:g} s"


def _round_steps(value: float) -> list[float]:
    """1, 2 and 5 times the powers of ten around ``value``."""
    exponent = math.floor(math.log10(value))
    return [step * 10.0 ** (exponent + more) for more in (-1, 0, 1) for step in _STEPS]


def _log_ticks(low: float, high: float) -> list[float]:
    first, last = math.floor(math.log10(low)) - 1, math.ceil(math.log10(high)) + 1
    marks = [step * 10.0**n for n in range(first, last + 1) for step in _STEPS]
    marks = [mark for mark in marks if low * 0.999 <= mark <= high * 1.001]
    if len(marks) > 7:  # more than that no picture has room for
        marks = [mark for mark in marks if math.isclose(math.log10(mark) % 1, 0, abs_tol=1e-6)]
    return marks


def _linear_ticks(end: float) -> list[float]:
    step = next(
        candidate
        for power in range(-4, 8)
        for candidate in (step * 10.0**power for step in _STEPS)
        if end / candidate <= 6
    )
    return [round(n * step, 6) for n in range(int(end / step) + 1)]
