"""How sure a figure is: bootstrap intervals of what was measured in pairs.

Pairs are drawn again, with replacement, 10,000 times; the interval is what 95 of 100 such
draws give (Efron's percentile method). The draws are always the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

_DRAWS = 10_000
_BOUNDS = (2.5, 97.5)


class Interval(NamedTuple):
    """A figure, and the bounds between which it lies in 95 of 100 draws."""

    value: float
    low: float
    high: float

    @property
    def excludes_zero(self) -> bool:
        """Whether a difference is more than chance among these pairs."""
        return self.low > 0 or self.high < 0


def difference(these: Sequence[float], those: Sequence[float]) -> Interval:
    """How much larger the mean of ``these`` is, each measured beside one of ``those``."""
    drawn = _drawn(np.subtract(these, those))
    return _interval(float(np.mean(these) - np.mean(those)), drawn)


def ratio(these: Sequence[float], those: Sequence[float]) -> Interval:
    """The mean of ``these`` over that of ``those``, each measured beside one of them."""
    drawn = _drawn(np.asarray(these, float)) / _drawn(np.asarray(those, float))
    return _interval(float(np.mean(these) / np.mean(those)), drawn)


def _drawn(values: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """The mean of each draw; the same pairs are drawn whatever is measured of them."""
    count = len(values)
    chosen = np.random.default_rng(0).multinomial(count, np.full(count, 1 / count), _DRAWS)
    # Not `chosen @ values`: BLAS would start threads.
    means: npt.NDArray[np.float64] = np.einsum("ij,j->i", chosen, values) / count
    return means


def _interval(value: float, drawn: npt.NDArray[np.float64]) -> Interval:
    low, high = np.percentile(drawn, _BOUNDS)
    return Interval(value, float(low), float(high))
