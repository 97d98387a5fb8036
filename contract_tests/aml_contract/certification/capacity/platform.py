"""What is known of how the platform loads an endpoint, and what is assumed."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

Kind = Literal["add", "search"]
"""What is sent, where it is Adds and Searches alone."""
EARLY = 0.41
"""The share of a user's Searches that come before its last Add (clause S13)."""
PROXIES_CUT = 100.0
"""Seconds after which the first proxies in front of real entries answer 524 (clause F2)."""
SOON_CUT = 90.0
"""Seconds that a request may take, so that no proxy cuts it (clause F2)."""
GIVES_UP = 1_800.0
"""Seconds after which the platform gives a request up (clause F2)."""
MINUTE = 60.0
"""Seconds that the platform waits after 429 without ``Retry-After`` (clause F1)."""


@dataclass(frozen=True)
class Volume:
    """How much a run sends: by default a Full of the textual track, as one was seen.

    Raises:
        ValueError: there is a user without an Add, or a number below 1.
    """

    adds: int = 43_272
    users: int = 1_580
    searches: int = 10_144

    def __post_init__(self) -> None:
        if min(self.adds, self.users, self.searches) < 1:
            raise ValueError("a volume has at least one Add, one user and one Search")
        if self.adds < self.users:
            raise ValueError(f"{self.users:,} users cannot share {self.adds:,} Adds")

    @classmethod
    def of(cls, adds: int) -> Volume:
        """A run of so many Adds, its users and Searches in the proportions of a Full.

        Raises:
            ValueError: there are none.
        """
        full = cls()
        users, searches = (
            max(1, round(adds * each / full.adds)) for each in (full.users, full.searches)
        )
        return cls(adds, users, searches)

    @property
    def adds_of_users(self) -> list[int]:
        """How many Adds each user has, the fewest first: nobody has told.

        Many have few and few have many: the quantiles of an exponential distribution.
        """
        spare = self.adds - self.users
        weights = [-math.log1p(-(n + 0.5) / self.users) for n in range(self.users)]
        return [1 + part for part in _shared(spare, weights)]

    @property
    def searches_of_users(self) -> list[int]:
        """How many Searches each of them has: in proportion to its Adds."""
        return _shared(self.searches, self.adds_of_users)


def _shared(total: int, weights: list[float] | list[int]) -> list[int]:
    """A total in whole parts, by weight; no part is off by one or more."""
    scale = total / sum(weights)
    reached, made, given = 0.0, [], 0
    for weight in weights:
        reached += weight * scale
        made.append(round(reached) - given)
        given += made[-1]
    return made


def limit_of(declared: float | None) -> float:
    """Seconds within which 99 of 100 requests must be answered.

    Args:
        declared: the declared timeout, if there is one.
    """
    return min(declared or SOON_CUT, SOON_CUT)
