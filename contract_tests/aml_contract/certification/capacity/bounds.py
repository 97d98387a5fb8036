"""Order-statistic bounds of percentiles, and when they are looked at.

How many of ``n`` requests take no longer than the true percentile is a binomial number,
whatever the distribution of latencies is. So two of the measured values, chosen by their
ranks alone, enclose the percentile with a confidence that is known.

A sample is looked at after fixed numbers of requests, and measuring ends at the first look
that tells. Each look may err with its equal part of one per cent (Bonferroni), so that all
together err with one per cent at most, in either direction.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from enum import StrEnum

import numpy as np
from scipy.special import bdtr

from aml_contract.documented import Documented

CONFIDENCE = 0.99
"""That a bound holds at every look, for either side of a percentile."""
LOOKS = (60, 600, 1_500, 4_000)
"""Requests after which a sample is looked at. The first can only show what is far too slow:
see :func:`needed`."""
DOUBT = (1 - CONFIDENCE) / len(LOOKS)
"""How often a bound may be wrong at one look."""
JUDGED = 0.99
"""The share of requests that must be in time."""


class Side(StrEnum):
    """On which side of a limit a percentile is."""

    UNDER = "under"
    OVER = "over"
    OPEN = "open"
    """The bounds enclose the limit."""


class Percentile(Documented):
    """A percentile in seconds, and its bounds; ``null`` where the sample is too small for one."""

    value: float
    low: float | None
    high: float | None

    def against(self, limit: float, overhead: float = 0.0) -> Side:
        """Where the true percentile is.

        Args:
            limit: in seconds.
            overhead: of the kit's own, in the measured values: to be too slow, the endpoint
                must be so without it; to be in time, it must be so with it.
        """
        if self.high is not None and self.high < limit:
            return Side.UNDER
        if self.low is not None and self.low - overhead > limit:
            return Side.OVER
        return Side.OPEN


class Sample(Documented):
    """Latencies of the first ``count`` requests of a kind, in the order in which they began."""

    count: int
    p50: Percentile
    p95: Percentile
    p99: Percentile
    slowest: list[float]
    """The slowest, in seconds, the slowest first: as many as the bounds of ``p99`` need."""

    @property
    def judged(self) -> Percentile:
        """``p99``, again from the slowest: what a verdict rests on."""
        return _percentile(self.slowest[::-1], self.count, JUDGED)


def needed(share: float = JUDGED, doubt: float = DOUBT) -> int:
    """Requests without which a percentile has no upper bound.

    The slowest of ``n`` is under the true percentile with the probability ``share ** n``:
    459 requests for the 99th percentile at 99 %, 597 if there are four looks.
    """
    return math.ceil(math.log(doubt) / math.log(share))


def ranks(count: int, share: float, doubt: float = DOUBT) -> tuple[int | None, int | None]:
    """The ranks, from 1, of the values that enclose a percentile; ``None`` for what there is not.

    Each is the closest one that is wrong with a probability of ``doubt`` at most.
    """
    below = bdtr(np.arange(count + 1), count, share)  # of at most so many values
    low = int(np.searchsorted(below, doubt, side="right"))
    high = int(np.searchsorted(below, 1 - doubt, side="left")) + 1
    return low or None, high if high <= count else None


def sample_of(seconds: Sequence[float]) -> Sample | None:
    """The sample of these latencies; ``None`` of nothing."""
    if not seconds:
        return None
    ordered, count = sorted(round(each, 6) for each in seconds), len(seconds)
    lowest = ranks(count, JUDGED)[0] or 1
    return Sample(
        count=count,
        p50=_percentile(ordered, count, 0.5),
        p95=_percentile(ordered, count, 0.95),
        p99=_percentile(ordered, count, JUDGED),
        slowest=ordered[: lowest - 2 : -1] if lowest > 1 else ordered[::-1],
    )


def _percentile(ordered: Sequence[float], count: int, share: float) -> Percentile:
    """Of the slowest of ``count`` values, in ascending order."""
    low, high = ranks(count, share)
    value = ordered[math.ceil(share * count) - 1 - count]
    return Percentile(
        value=value,
        low=None if low is None else ordered[low - 1 - count],
        high=None if high is None else ordered[high - 1 - count],
    )
