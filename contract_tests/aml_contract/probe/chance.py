"""What chance finds: the band in which a control that shuffles must lie, computed exactly.

Of ``n`` messages ``m`` mention the value; the first ``k`` of a shuffle hold one of these with
probability 1 - C(n - m, k) / C(n, k). Questions are independent, so hits are a sum of such.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import comb

SURE = 0.999
"""How often a control that shuffles lies within its band."""


def hit(messages: int, mentioning: int, k: int) -> float:
    """The probability that one of ``mentioning`` is among the first ``k`` of ``messages``."""
    return 1 - comb(messages - mentioning, k) / comb(messages, k) if k < messages else 1.0


def band(probabilities: Sequence[float], share: float = SURE) -> tuple[int, int]:
    """The least and the most hits with which ``share`` of all shuffles stay, both ends alike."""
    import numpy as np  # noqa: PLC0415  imported late: it comes with an extra

    exactly = np.ones(1)
    for each in probabilities:
        exactly = np.convolve(exactly, (1 - each, each))
    at_most, outside = np.cumsum(exactly), (1 - share) / 2
    low = int(np.searchsorted(at_most, outside, side="right"))
    high = int(np.searchsorted(at_most, 1 - outside))
    return low, min(high, len(probabilities))
