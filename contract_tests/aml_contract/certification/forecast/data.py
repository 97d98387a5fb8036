"""What the forecast stage measures and foresees."""

from __future__ import annotations

from typing import Literal

from aml_contract.certification.capacity.record import Point, Trouble
from aml_contract.certification.forecast.growth import Fit
from aml_contract.documented import Documented


class Growth(Documented):
    """One kind of request of one user whose history grows, nothing else in flight."""

    points: list[Point]
    """Each that was accepted."""
    fit: Fit | None
    """How it grows; `null` if too few were measured."""


class Sent(Documented):
    """The volume of the run."""

    adds: int
    users: int
    searches: int
    longest: int
    """Adds of the user with the most, as assumed."""


class Hours(Documented):
    """How long the run takes, in hours: in 95 of 100 simulations between `low` and `high`."""

    low: float
    mid: float
    high: float


class Break(Documented):
    """Something that gives way when a history grows."""

    what: Literal["proxy", "platform"]
    """Proxies in front of the endpoint cut after 100 s, or the platform gives up after 30
    minutes (clause F2)."""
    operation: Literal["add", "search"]
    history: int
    """From so many Adds of one user on, one request in a hundred takes longer."""
    share: float
    """The share of all such requests of the run that have as long a history."""
    measured: bool
    """Whether histories as long were measured; else it is an extrapolation."""


class ForecastData(Documented):
    """What the forecast stage measured and foresees."""

    volume: Sent
    add: Growth
    search: Growth
    hours: Hours | None
    """`null` if too little was measured."""
    breaks: list[Break]
    """What gives way first stands first."""
    rate: float | None
    """Requests a second that the declared rate limits allow; `null` if they name no number."""
    limited: bool
    """Whether that is what makes the run as long as it is."""
    waiting: float | None
    """The share of the time of Adds that is waiting to be sent again."""
    assumptions: list[str]
    """What the forecast rests on, in words."""
    trouble: Trouble | None
    """What ended the measurement of growth early, if something did."""
