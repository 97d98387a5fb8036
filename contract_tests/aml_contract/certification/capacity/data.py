"""What the capacity stage measures."""

from __future__ import annotations

from typing import Literal

from aml_contract.certification.capacity.bounds import Sample
from aml_contract.certification.capacity.overhead import Overhead
from aml_contract.certification.capacity.record import Point, Trouble
from aml_contract.documented import Documented

SATURATED = 0.5
"""The share of what is in flight that must be worked on, else it is remarked."""
OFTEN = 0.1
"""The share of requests sent away from which on that is what limits an endpoint."""


class Traffic(Documented):
    """One kind of request under load."""

    in_flight: int
    """As many at once, as declared."""
    accepted: int
    """Adds or Searches that got their 200 in the end."""
    codes: dict[str, int]
    """Requests by the status of their answers, and those with `no answer`."""
    without_wait: int
    """Answers 429 without `Retry-After`, after each of which the platform waits a minute."""
    sample: Sample | None
    """Latencies from the intended start, in seconds; `null` if nothing counts."""
    alone: float | None
    """Median seconds of one that has the endpoint for itself."""
    together: float | None
    """The same at the same histories, while as many were in flight as declared."""
    per_second: float | None
    """How many were accepted a second then."""
    points: list[Point]
    """Some of those that were accepted while Adds and Searches went side by side, evenly taken."""

    def queues(self, overhead: float) -> bool:
        """Whether most requests wait inside the endpoint for others.

        Args:
            overhead: seconds of the kit's own in each that was sent beside others.
        """
        if self.alone is None or self.together is None:
            return False
        return self.together - overhead > self.alone / SATURATED

    @property
    def held(self) -> int:
        """How many the endpoint works on at a time, by Little's law.

        What waits outside is not in flight there: what it finishes in a second, times what one
        takes. What waits inside makes each take longer, all the longer the more wait. All of
        them if that was not measured.
        """
        if self.alone is None or self.together is None or self.per_second is None:
            return self.in_flight
        worked_on = (
            self.per_second * self.alone
            if self.sent_away > OFTEN
            else self.in_flight * self.alone / self.together
        )
        return min(self.in_flight, max(1, round(worked_on)))

    @property
    def sent_away(self) -> float:
        """The share of requests that were told to come later."""
        later = self.codes.get("429", 0) + self.codes.get("503", 0)
        return later / max(1, sum(self.codes.values()))


class Memories(Documented):
    """What became of the Adds of the load."""

    acknowledged: int
    """Answered 200, every one with a canary in it."""
    found: int
    """Canaries that a Search showed in the end."""
    late: int
    """Of those, the ones that an earlier Search missed although they were acknowledged."""
    deep: int
    """Of those, the ones that only their own words or 1,000 items show: ranked too low."""
    lost: int
    """Canaries that no Search showed, at the end, calmly, and by their own words."""
    unseen: int
    """Those that could not be looked for to the end."""
    unfinished: int
    """Adds that were neither acknowledged nor refused when time was over."""


class Throughput(Documented):
    """Accepted Adds and Searches over time."""

    width: float
    """Seconds of one step."""
    adds: list[int]
    """In each step, from the beginning of the load."""
    searches: list[int]


class CapacityData(Documented):
    """What the capacity stage measured."""

    add: Traffic
    search: Traffic
    memories: Memories
    troubles: list[Trouble]
    """What ended the load, if something did."""
    overhead: Overhead
    throughput: Throughput
    ended: Literal["clear", "trouble", "time"]
    """Why the load ended: it was clear how it goes, something was wrong, or time was over."""
    budget: float
    """Seconds that the stage could take."""
    verbatim: bool
    """Whether the memory returns what it was told in its own words; of one that rewrites,
    nobody can say from outside what it has lost."""
    texts_only: bool
    """Whether nothing but texts was sent on a track where more comes."""
