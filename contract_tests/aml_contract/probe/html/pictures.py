"""Pictures of a probe: shares over the periods of a life, and where values are lost."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from aml_contract.probe.document import Scores
from aml_contract.probe.stages import STAGES, Stage
from aml_contract.probe.wording import SYSTEM_NAMES, figures_of
from aml_contract.probe.world import Mode
from aml_contract.report.html.axes import Tick, across, path_of, upwards
from aml_contract.report.html.plots import Curve, Curves

Over = Literal["hit", "stale_first"]
"""Metrics that are followed over the periods."""

_WIDTH = 100.0
"""Units of a bar, from nothing to all."""


@dataclass(frozen=True)
class Segment:
    """The share of one stage in a bar: where it begins, and how wide it is."""

    stage: Stage
    start: float
    width: float


@dataclass(frozen=True)
class Bar:
    """The stages of one memory."""

    system: str
    segments: list[Segment]


def curves(scores: Scores, mode: Mode, metric: Over) -> Curves:
    """A share at the end of each period, for every memory."""
    periods = max(point.period for point in scores.systems["oracle"].periods[mode])
    time, up = across(0, periods or 1), upwards(0, 1)
    made, count = [], 2 * len(scores.systems)
    for odd, (name, system) in zip(range(1, count, 2), scores.systems.items(), strict=True):
        points = [
            (time(point.period), up(value))
            for point in system.periods[mode]
            if (value := getattr(point, metric)) is not None
        ]
        if points:
            label = points[(len(points) - 1) * odd // count]
            made.append(Curve(SYSTEM_NAMES[name], path_of(points), label))
    return Curves(
        made,
        x=[Tick(time(period), f"{period}") for period in range(periods + 1)],
        y=[Tick(up(share / 100), f"{share} %") for share in (0, 25, 50, 75, 100)],
    )


def bars(scores: Scores, mode: Mode) -> list[Bar]:
    """A bar for each memory; its segments fill it."""
    made = []
    for name in scores.systems:
        figures, segments, start = figures_of(scores, name, mode), [], 0.0
        for stage in STAGES:
            figure = figures.get(stage)
            width = _WIDTH * figure.value if figure else 0.0
            if width:
                segments.append(Segment(stage, round(start, 2), round(width, 2)))
            start += width
        made.append(Bar(name, segments))
    return made
