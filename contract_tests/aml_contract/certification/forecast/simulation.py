"""A run of the platform, simulated as events: when everything would be answered.

The scheduling is the one that :mod:`aml_contract.certification.capacity.load` sends by. Adds
of one user follow one another, in a place that is the user's until it is through; users that
wait take the place that becomes free first. A Search is ready when an Add of its user is
acknowledged. The endpoint works on so many requests of a kind at a time, as its throughput has
shown; what is in flight beyond that waits inside it, in the order of arrival.
"""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate, islice

import numpy as np

from aml_contract.certification.capacity.platform import EARLY, Volume
from aml_contract.certification.capacity.record import Point
from aml_contract.certification.forecast.growth import Array, Fit, fit_of


@dataclass(frozen=True)
class Service:
    """How long one kind of request takes, and how many are worked on at a time.

    What a load makes of a request is taken to be the same at every history: a ratio between
    what was measured under load and the growth of one that has the endpoint for itself.
    """

    fit: Fit
    ratios: Array
    waits: Array
    """Seconds between a request and the next try."""
    at_once: int
    """Those that are worked on at a time."""
    share: float = 1.0
    """The part of a request's time that is work; the rest it waited inside the endpoint."""

    @classmethod
    def of(
        cls, loaded: Sequence[Point], alone: Sequence[Point], at_once: int, share: float
    ) -> Service:
        """The service that was measured.

        Args:
            loaded: requests under load.
            alone: those of one user whose history grows, nothing else in flight.
            at_once: how many are worked on at a time.
            share: the part of the time of the loaded ones that was work.
        """
        fit = fit_of(alone)
        history, seconds, waits = (
            np.array(column, dtype=np.float64)
            for column in zip(*((p.history, p.seconds, p.waited) for p in loaded), strict=True)
        )
        return cls(fit, seconds / fit.at(history), waits, at_once, share)

    def draw(self, history: Array, chance: np.random.Generator) -> tuple[Array, Array]:
        """Seconds of work and of waiting to be sent again, for requests at these histories."""
        chosen = chance.integers(len(self.ratios), size=len(history))
        return self.share * self.fit.at(history) * self.ratios[chosen], self.waits[chosen]

    def quantile(self, history: Array, share: float) -> Array:
        """The latency under load that such a share of single requests does not pass."""
        seconds: Array = self.fit.at(history) * float(np.quantile(self.ratios, share))
        return seconds


def makespan(
    volume: Volume, add: Service, search: Service, users: int, chance: np.random.Generator
) -> float:
    """Seconds from the first Add to the last answer.

    Args:
        volume: what is sent.
        add: how long Adds take.
        search: how long Searches take.
        users: those that are served side by side.
        chance: the order of users, what is drawn, and when Searches are ready.
    """
    counts, asked = np.array(volume.adds_of_users), np.array(volume.searches_of_users)
    order = chance.permutation(len(counts))
    counts, asked = counts[order], asked[order]
    firsts = np.concatenate(([0], np.cumsum(counts)[:-1]))
    history = np.arange(counts.sum()) - np.repeat(firsts, counts)
    work, waits = add.draw(history.astype(np.float64), chance)
    acknowledged = _adds(counts.tolist(), work.tolist(), waits.tolist(), add.at_once, users)
    # Which Add a Search follows: any of the user's, or the last.
    owners = np.repeat(np.arange(len(counts)), asked)
    early = chance.random(len(owners)) < EARLY
    place = np.where(early, chance.integers(counts[owners]), counts[owners] - 1)
    ready = np.array(acknowledged)[firsts[owners] + place]
    turn = np.argsort(ready)
    work, waits = search.draw(place[turn].astype(np.float64), chance)
    answered = _searches(ready[turn].tolist(), (work + waits).tolist(), search.at_once)
    return max(*acknowledged, answered)


def _adds(
    counts: Sequence[int],
    work: Sequence[float],
    waits: Sequence[float],
    at_once: int,
    users: int,
) -> list[float]:
    """When each Add is acknowledged; those of one user stand together, in order."""
    ends = list(accumulate(counts))
    coming = iter(zip([0, *ends], ends, strict=False))
    free = [0.0] * at_once
    # When the next Add of each user that is being served arrives, its number, and its last.
    arrivals = [(0.0, first, end) for first, end in islice(coming, users)]
    acknowledged = [0.0] * ends[-1]
    while arrivals:
        arrived, number, end = arrivals[0]
        done = max(arrived, free[0]) + work[number]
        heapq.heapreplace(free, done)
        done += waits[number]
        acknowledged[number] = done
        if number + 1 < end:
            heapq.heapreplace(arrivals, (done, number + 1, end))
        elif following := next(coming, None):
            heapq.heapreplace(arrivals, (done, *following))
        else:
            heapq.heappop(arrivals)
    return acknowledged


def _searches(ready: Sequence[float], seconds: Sequence[float], at_once: int) -> float:
    """When the last is answered, of Searches in the order in which they are ready."""
    free = [0.0] * at_once
    for at, took in zip(ready, seconds, strict=True):
        heapq.heapreplace(free, max(at, free[0]) + took)
    return max(free)
