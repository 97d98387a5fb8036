"""Growth: how much longer a request takes, the more its user has said before."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np
import numpy.typing as npt

from aml_contract.certification.capacity.record import Point
from aml_contract.documented import Documented

Array = npt.NDArray[np.float64]

FEWEST = 12
"""Requests without which no growth is seen."""
_WARM = 2
"""The first requests of a user, which may open connections and load models."""
_SURE = 0.95
"""How sure it must be that there is a growth at all."""
_LEAST = 0.5
"""What is predicted is at least this share of the fastest that was measured."""


class Fit(Documented):
    """Seconds of a request by the Adds of the same user before it."""

    form: Literal["constant", "linear", "log"]
    """Whether it grows with each of them, with the logarithm of their number, or not."""
    base: float
    """Seconds of a user's first."""
    slope: float
    """Seconds more for each Add before; for each unit of ln(1 + Adds before)."""
    least: float
    """Seconds that nothing is faster than."""

    def at(self, history: Array) -> Array:
        """The seconds after so many Adds."""
        return np.maximum(self.least, self.base + self.slope * _axis(self.form, history))


def fit_of(points: Sequence[Point]) -> Fit:
    """The growth that these requests show.

    Slopes are those of Theil and Sen, the median of the slopes between all pairs: a request
    that hangs bends no line. There is a growth if it is sure that the slope is not 0; its form
    is the one that leaves less. Nothing gets faster with a history.

    Args:
        points: at least :data:`FEWEST`.
    """
    from scipy.stats import theilslopes  # noqa: PLC0415  a second, and who verifies needs it not

    history = np.array([point.history for point in points[_WARM:]], dtype=np.float64)
    seconds = np.array([point.seconds for point in points[_WARM:]], dtype=np.float64)
    least = _LEAST * float(seconds.min())
    best, left = (
        Fit(form="constant", base=float(np.median(seconds)), slope=0.0, least=least),
        np.inf,
    )
    if np.ptp(seconds) == 0 or np.ptp(history) == 0:
        return best
    forms: tuple[Literal["linear", "log"], ...] = ("linear", "log")
    for form in forms:
        axis = _axis(form, history)
        line = theilslopes(seconds, axis, alpha=_SURE)
        residual = float(np.abs(seconds - line.intercept - line.slope * axis).sum())
        if line.low_slope > 0 and residual < left:
            base, slope = float(line.intercept), float(line.slope)
            best, left = Fit(form=form, base=base, slope=slope, least=least), residual
    return best


def _axis(form: str, history: Array) -> Array:
    return np.log1p(history) if form == "log" else history
