"""Latency against what was certified: the declared limit, and the times of that day."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from aml_contract.certification.capacity.bounds import Sample, Side, sample_of
from aml_contract.certification.fingerprint import Sameness
from aml_contract.documented import Documented
from aml_contract.latency import in_words

_CLEARLY = 2.0
"""How many times as long is worth a word."""


class Times(Documented):
    """How long one kind of request takes now."""

    operation: Literal["add", "search"]
    limit: float
    """Seconds within which 99 of 100 must be answered, as was certified."""
    sample: Sample | None
    """Those that were answered 200 now: of canaries and of spot checks."""
    then: Sample | None
    """Canaries when it was certified; there may have been other work and another way there."""
    now: Sample | None
    """The same canaries now."""

    @property
    def sameness(self) -> Sameness:
        """Changed if it is certain that fewer than 99 of 100 are in time."""
        if self.sample is None:
            return Sameness.UNKNOWN
        over = self.sample.judged.against(self.limit) is Side.OVER
        return Sameness.CHANGED if over else Sameness.SAME

    @property
    def sentence(self) -> str:
        """What that says."""
        name = "Adds" if self.operation == "add" else "Searches"
        if self.sample is None:
            return f"No {name} were answered, so nothing is known of their times."
        half, slowest = in_words(self.sample.p50.value), in_words(self.sample.slowest[0])
        took = f"of {self.sample.count}, half took {half}, the slowest {slowest}"
        limit = f"99 of 100 must be answered within {in_words(self.limit)}"
        if self.sameness is Sameness.CHANGED:
            return f"{name} take too long: {took}, and {limit}."
        return f"{name} are in time, as far as these show: {took}; {limit}."

    @property
    def remark(self) -> str | None:
        """That it is slower than it was, if that is clear."""
        if self.then is None or self.now is None:
            return None
        was, is_now = self.then.p50, self.now.p50
        if was.high is None or is_now.low is None or is_now.low < _CLEARLY * was.high:
            return None
        name = "Adds" if self.operation == "add" else "Searches"
        return (
            f"{name} of canaries take {in_words(is_now.value)}, and took {in_words(was.value)} "
            "when it was certified; the way there or other load may explain it."
        )


def times_of(
    operation: Literal["add", "search"],
    limit: float,
    then: Sequence[float],
    now: Sequence[float],
    more: Sequence[float],
) -> Times:
    """The times of one kind of request.

    Args:
        operation: which kind.
        limit: seconds within which 99 of 100 must be answered.
        then: of canaries, when it was certified.
        now: of canaries, now.
        more: of other ordinary requests, now.
    """
    return Times(
        operation=operation,
        limit=limit,
        sample=sample_of([*now, *more]),
        then=sample_of(then),
        now=sample_of(now),
    )
