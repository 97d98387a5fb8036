"""The forecast: how long a run takes, with an interval, and what gives way first."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from aml_contract.certification.capacity.data import Traffic
from aml_contract.certification.capacity.platform import (
    EARLY,
    GIVES_UP,
    PROXIES_CUT,
    Kind,
    Volume,
)
from aml_contract.certification.capacity.record import Point
from aml_contract.certification.forecast.data import Break, Hours
from aml_contract.certification.forecast.growth import FEWEST
from aml_contract.certification.forecast.simulation import Service, makespan
from aml_contract.latency import in_words

_SIMULATIONS = 200
_BETWEEN = (2.5, 50.0, 97.5)
"""Percentiles of the simulations: an interval of 95 %."""
_RARE = 0.99
"""One request in a hundred takes longer."""
_MUCH = 0.1
"""The share of an Add from which on the kit's own is worth to be said."""
_HOUR = 3_600.0


@dataclass(frozen=True)
class Measured:
    """What a forecast is made from.

    Attributes:
        load: the capacity stage's.
        alone: requests of one user whose history grows, nothing else in flight.
        overhead: seconds of the kit's own in a request beside others.
        rate: requests a second that declared limits allow, if they do.
    """

    load: Mapping[Kind, Traffic]
    alone: Mapping[Kind, Sequence[Point]]
    overhead: float
    rate: float | None = None

    @property
    def enough(self) -> bool:
        """Whether there is enough to forecast from."""
        loaded = [traffic.points for traffic in self.load.values()]
        return bool(loaded) and min(map(len, (*loaded, *self.alone.values()))) >= FEWEST

    def hours(self, volume: Volume, seed: int) -> Hours:
        """How long the run takes.

        Each simulation draws what was measured anew, with replacement, and fits the growth to
        that; so the interval holds what the sizes of the samples leave open, and chance in
        the run itself.
        """
        chance = np.random.default_rng(seed)
        least = self.least_seconds(volume)
        users = self.load["add"].in_flight
        made = []
        for _ in range(_SIMULATIONS):
            add, search = self._service("add", chance), self._service("search", chance)
            made.append(max(least, makespan(volume, add, search, users, chance)))
        low, mid, high = np.percentile(made, _BETWEEN) / _HOUR
        return Hours(low=round(low, 4), mid=round(mid, 4), high=round(high, 4))

    def least_seconds(self, volume: Volume) -> float:
        """Seconds that the declared rate limits make of it, however fast each request is."""
        return (volume.adds + volume.searches) / self.rate if self.rate else 0.0

    def breaks(self, volume: Volume) -> list[Break]:
        """What gives way as histories grow to those of the run, the first one first."""
        found = [one for kind in self.load for one in self._of(kind, volume)]
        return sorted(found, key=lambda one: (-one.share, one.history))

    def _of(self, kind: Kind, volume: Volume) -> Iterator[Break]:
        counts = np.array(volume.adds_of_users)
        histories = np.arange(counts.max(), dtype=np.float64)
        seconds = self._service(kind).quantile(histories, _RARE)
        reached = max(point.history for point in self.alone[kind])
        for what, limit in (("proxy", PROXIES_CUT), ("platform", GIVES_UP)):
            over = np.flatnonzero(seconds > limit)
            if len(over):
                first = int(over[0])
                yield Break(
                    what="proxy" if what == "proxy" else "platform",
                    operation=kind,
                    history=first,
                    share=round(float(np.maximum(counts - first, 0).sum() / counts.sum()), 4),
                    measured=first <= reached,
                )

    def _service(self, kind: Kind, chance: np.random.Generator | None = None) -> Service:
        """How long one kind takes, by all that was measured, or by as much drawn from it."""
        traffic, alone = self.load[kind], self.alone[kind]
        loaded: Sequence[Point] = traffic.points
        if chance:
            loaded, alone = _again(loaded, chance), _again(alone, chance)
        # Searches beside Adds are too few to wait for each other.
        queues = kind == "add" and traffic.queues(self.overhead)
        at_once = traffic.held if queues else traffic.in_flight
        return Service.of(loaded, alone, at_once, at_once / traffic.in_flight)


def assumptions(measured: Measured, volume: Volume, track: str) -> list[str]:
    """What a forecast rests on, in words."""
    adds, searches = (measured.load[kind].in_flight for kind in ("add", "search"))
    longest = volume.adds_of_users[-1]
    reached = max(point.history for point in measured.alone["add"]) + 1
    made = [
        (
            f"{adds} users at most are served side by side, each one's Adds one after the other, "
            f"and {searches} Searches at most beside them; what is sent again keeps its place."
        ),
        f"{EARLY:.0%} of a user's Searches come before its last Add, and hold up none.",
        (
            f"A user has {volume.adds / volume.users:.0f} Adds on average and {longest} at most; "
            "many have few and few have many, as nobody has told how they are spread."
        ),
        (
            "Chunks are as large as in the capacity stage; what the load does to a request is the "
            "same at every history, and by day and night."
        ),
    ]
    if longest > reached:
        made.append(
            f"Histories of more than {reached} Adds were not measured; what grows is taken to grow "
            "on."
        )
    if track != "textual":
        made.append(
            f"The volume is that of a Full of the Textual track, as none of {track} is known."
        )
    usual = measured.load["add"].together
    if usual and measured.overhead > _MUCH * usual:
        made.append(
            f"As much as {in_words(measured.overhead)} of each request may be the kit's own; "
            "without it, the run is faster."
        )
    if measured.rate:
        made.append(f"The declared rate limit is kept, {measured.rate:.3g} requests a second.")
    return made


def _again(points: Sequence[Point], chance: np.random.Generator) -> list[Point]:
    """As many of them, drawn with replacement, in the order of their histories."""
    drawn = [points[n] for n in chance.integers(len(points), size=len(points))]
    return sorted(drawn, key=lambda point: point.history)
