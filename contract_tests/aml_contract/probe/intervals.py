"""How sure a figure is: users are drawn again, with replacement, 10,000 times.

A figure is a ratio of sums over users; its interval is what 95 of 100 draws give (Efron's
percentile method). The draws are always the same. Of one user there is no interval.
"""

from __future__ import annotations

from collections.abc import Sequence

from pydantic import Field

from aml_contract.documented import Documented

_DRAWS = 10_000
_BOUNDS = (2.5, 97.5)
_DIGITS = 4


class Figure(Documented):
    """A figure with the interval of 95 %, by a bootstrap over users."""

    value: float
    low: float | None = None
    """``null`` if there is one user only."""
    high: float | None = None
    of: int = Field(ge=0)
    """How many observations it is of."""


def ratio(parts: Sequence[float], wholes: Sequence[float]) -> Figure | None:
    """The sum of ``parts`` over that of ``wholes``, one of each for each user.

    ``None`` if there was nothing to observe.
    """
    # Imported late: it takes a tenth of a second, and comes with an extra.
    import numpy as np  # noqa: PLC0415  see above

    part, whole = np.asarray(parts, float), np.asarray(wholes, float)
    if not whole.sum():
        return None
    value = round(float(part.sum() / whole.sum()), _DIGITS)
    users = len(whole)
    if users < 2:
        return Figure(value=value, of=round(whole.sum()))
    draws = np.random.default_rng(0).multinomial(users, np.full(users, 1 / users), _DRAWS)
    # Not `draws @ part`: BLAS would start threads.
    drawn, of = np.einsum("ij,j->i", draws, part), np.einsum("ij,j->i", draws, whole)
    low, high = np.percentile(drawn[of > 0] / of[of > 0], _BOUNDS)
    return Figure(
        value=value,
        low=round(float(low), _DIGITS),
        high=round(float(high), _DIGITS),
        of=round(whole.sum()),
    )
