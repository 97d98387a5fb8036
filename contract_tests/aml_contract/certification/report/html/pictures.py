"""Capacity and forecast as pictures: throughput over time, latencies with their bounds, growth."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from aml_contract.certification.capacity import CapacityData
from aml_contract.certification.capacity.data import Throughput, Traffic
from aml_contract.certification.capacity.platform import limit_of
from aml_contract.certification.capacity.record import Point
from aml_contract.certification.declaration import Declaration
from aml_contract.certification.forecast import ForecastData
from aml_contract.report.html.axes import (
    Tick,
    across,
    around,
    in_units,
    linear_marks,
    log_marks,
    path_of,
    upwards,
)
from aml_contract.report.html.plots import Curve, Curves, Plot

_FASTEST = 1e-5
"""Seconds that a logarithmic axis begins with, at the earliest."""
_ROWS = (60, 108, 156)
"""Heights of the rows of a picture of bounds."""


@dataclass(frozen=True)
class Bounded:
    """A percentile between its bounds; without an upper one the line goes on to the edge."""

    name: str
    height: int
    low: float
    high: float
    value: float


@dataclass(frozen=True)
class Bounds:
    """The percentiles of one kind of request, and the limit that they are judged by."""

    rows: list[Bounded]
    x: list[Tick]
    limit: Tick


@dataclass(frozen=True)
class Loaded:
    """One kind of request under load: its figures, its limit in seconds, and its picture."""

    operation: str
    traffic: Traffic
    limit: float
    bounds: Bounds | None


@dataclass(frozen=True)
class Capacity:
    """What the capacity stage measured, to be shown."""

    data: CapacityData
    kinds: list[Loaded]
    throughput: Curves | None


@dataclass(frozen=True)
class Forecast:
    """What the forecast stage foresees, to be shown."""

    data: ForecastData
    growth: dict[str, Plot]
    """How long requests took, by the Adds of the same user before: ``add`` and ``search``."""


def capacity(data: Mapping[str, Any], declaration: Declaration) -> Capacity:
    """The figures and pictures of a load."""
    found = CapacityData.model_validate(data)
    sides = (
        ("add", found.add, declaration.add_timeout),
        ("search", found.search, declaration.search_timeout),
    )
    kinds = [
        Loaded(operation, traffic, limit_of(timeout), _bounds(traffic, limit_of(timeout)))
        for operation, traffic, timeout in sides
    ]
    return Capacity(found, kinds, _over_time(found.throughput))


def forecast(data: Mapping[str, Any]) -> Forecast:
    """The figures and pictures of a forecast."""
    found = ForecastData.model_validate(data)
    growths = (("add", found.add), ("search", found.search))
    plots = {name: _growth(growth.points) for name, growth in growths if growth.points}
    return Forecast(found, plots)


def _bounds(traffic: Traffic, limit: float) -> Bounds | None:
    if traffic.sample is None:
        return None
    named = {"p50": traffic.sample.p50, "p95": traffic.sample.p95, "p99": traffic.sample.p99}
    seconds = [limit, *(max(one.value, _FASTEST) for one in named.values())]
    seconds += [max(end, _FASTEST) for one in named.values() for end in (one.low, one.high) if end]
    low, high = around(min(seconds), max(seconds))
    place = across(low, high, log=True)
    return Bounds(
        rows=[
            Bounded(
                name=name,
                height=height,
                low=place(one.low or low),
                high=place(one.high or high),
                value=place(one.value),
            )
            for (name, one), height in zip(named.items(), _ROWS, strict=True)
        ],
        x=[Tick(place(mark), in_units(mark)) for mark in log_marks(low, high)],
        limit=Tick(place(limit), f"limit {in_units(limit)}"),
    )


def _over_time(steps: Throughput) -> Curves | None:
    """Accepted requests a second, a curve for each kind."""
    series = {"Adds": steps.adds, "Searches": steps.searches}
    count = max(map(len, series.values()))
    most = max((number / steps.width for each in series.values() for number in each), default=0.0)
    if count < 2 or most <= 0:
        return None
    time, up = across(0, count * steps.width), upwards(0, most)
    curves = []
    for number, (name, each) in enumerate(series.items(), 1):
        points = [
            (time((n + 0.5) * steps.width), up(accepted / steps.width))
            for n, accepted in enumerate(each)
        ]
        if points:
            label = points[len(points) * number // (len(series) + 1)]
            curves.append(Curve(name, path_of(points), label))
    return Curves(
        curves,
        x=[Tick(time(at), f"{at:g} s") for at in linear_marks(count * steps.width)],
        y=[Tick(up(at), f"{at:g}/s") for at in linear_marks(most)],
    )


def _growth(points: Sequence[Point]) -> Plot:
    """How long each request took by the history of its user."""
    seconds = [max(point.seconds, _FASTEST) for point in points]
    low, high = around(min(seconds), max(seconds))
    end = max(point.history for point in points) or 1
    place, up = across(0, end), upwards(low, high, log=True)
    return Plot(
        points=[
            (place(point.history), up(took)) for point, took in zip(points, seconds, strict=True)
        ],
        x=[Tick(place(at), f"{at:g}") for at in linear_marks(end)],
        y=[Tick(up(mark), in_units(mark)) for mark in log_marks(low, high)],
        lines=[],
    )
