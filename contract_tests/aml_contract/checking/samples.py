"""Samples: how long ordinary requests took, and when, small enough for a report."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from statistics import quantiles
from typing import Any, NamedTuple

from aml_contract.documented import Documented
from aml_contract.exchange import Exchange

MOST = 500
"""Points that a report keeps of one kind of request."""


class Samples(Documented):
    """Latencies of one kind of request: its points over the run, and how all are spread."""

    points: list[tuple[float, float]]
    """Seconds since the run began, and seconds until the answer: at most 500, evenly taken
    from all, the slowest always among them."""
    quantiles: list[float]
    """The 0th, 1st … 100th percentile of all of them, in seconds."""


class Timed(NamedTuple):
    """One ordinary request: when it was sent, how long it took, how it ended."""

    started: float
    """Seconds since the run, or the part of it, began."""
    seconds: float
    status: int | None

    @classmethod
    def of(cls, made: Exchange) -> Timed:
        """What an exchange comes to."""
        return cls(round(made.started, 4), round(made.seconds, 6), made.status)


def timed_of(events: Iterable[Any], operation: str, later: float = 0.0) -> list[Timed]:
    """What the ``measured`` events say of one operation.

    Args:
        events: those of one part of a run.
        operation: ``add`` or ``search``.
        later: seconds to add to the time of each.
    """
    return [
        Timed(started + later, seconds, status)
        for event in events
        if event["event"] == "measured"
        for started, seconds, status in event[operation]
    ]


def samples_of(answered: Sequence[Timed]) -> Samples | None:
    """The samples of requests that got their 200; ``None`` of nothing."""
    if not answered:
        return None
    ordered = sorted(answered)
    seconds = [one.seconds for one in ordered]
    cuts = quantiles(seconds, n=100, method="inclusive") if len(seconds) > 1 else seconds * 99
    step = -(-len(ordered) // (MOST - 1))
    chosen = {*ordered[::step], max(ordered, key=lambda one: one.seconds)}
    return Samples(
        points=[(round(one.started, 3), one.seconds) for one in sorted(chosen)],
        quantiles=[round(cut, 6) for cut in (min(seconds), *cuts, max(seconds))],
    )
