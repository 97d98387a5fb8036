"""A tally: every request of a kind, what it was answered and how long that took.

**Latency** is counted from the *intended* start of a request: the moment at which the platform
would have sent it. It keeps a fixed number of requests in flight, so that is when a place
became free and everything that the request depends on had been answered; of a request that is
sent again, when its wait was over. What the kit takes until the request is really sent is part
of it. Nothing is left out because the endpoint was busy: a request that hangs holds its place,
as on the platform, and counts as soon as it has taken longer than the limit, answered or not.

**The sample** holds requests in the order in which they began, not in that of their answers:
else the first hundred would be the fastest of more. A request counts if it was answered 200,
or if it took longer than the limit whatever its answer was. One that was refused sooner is
counted by its code alone: a fast 429 must not make slow answers rare.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass

from aml_contract.certification.capacity.bounds import LOOKS, Sample, Side, sample_of
from aml_contract.exchange import Exchange

NO_ANSWER = "no answer"


@dataclass
class Attempt:
    """One request that was sent, or is about to be; times are the event loop's."""

    intended: float
    ended: float | None = None
    status: int | None = None

    def seconds(self, now: float) -> float:
        """Its latency; while it is not answered, at least."""
        return (now if self.ended is None else self.ended) - self.intended


class Tally:
    """The requests of one kind, Adds or Searches.

    Args:
        limit: seconds that a request may take.
        overhead: seconds of the kit's own in a latency, as far as is known now.
    """

    def __init__(self, limit: float, overhead: Callable[[], float] = lambda: 0.0) -> None:
        self.limit = limit
        self.codes: Counter[str] = Counter()
        """Answers by their status, and those that never came."""
        self.without_wait = 0
        """Answers 429 without ``Retry-After``."""
        self.side = Side.OPEN
        """What the last look came to."""
        self.sample: Sample | None = None
        """What was looked at last."""
        self._overhead = overhead
        self._looks = iter(LOOKS)
        self._due: int | None = next(self._looks)
        self._attempts: list[Attempt] = []
        self._settled = 0
        """Attempts, from the first on, of which it is known whether they count."""
        self._counted: list[Attempt] = []

    def begin(self, intended: float) -> Attempt:
        """A request is to be sent."""
        attempt = Attempt(intended)
        self._attempts.append(attempt)
        return attempt

    def end(self, attempt: Attempt, exchange: Exchange, now: float) -> None:
        """It was answered, or will not be."""
        attempt.ended = now
        attempt.status = exchange.status
        self.codes[NO_ANSWER if exchange.status is None else str(exchange.status)] += 1
        if exchange.status == 429 and "retry-after" not in exchange.reply_headers:
            self.without_wait += 1

    def cut_off(self, attempt: Attempt, now: float) -> None:
        """The kit waits for its answer no longer."""
        attempt.ended = now

    def look(self, now: float) -> bool:
        """Look at the sample if that is due; whether it tells, or will be looked at no more."""
        self._settle(now)
        while not self.decided and self._due is not None and self.size >= self._due:
            self._judge(self._due, now)
            self._due = next(self._looks, None)
        return self.decided or self._due is None

    def close(self, now: float) -> None:
        """Nothing more will come: the last look, if none has told and one is left."""
        if not self.look(now):
            self._judge(self.size, now)

    @property
    def decided(self) -> bool:
        """Whether a look has told on which side of the limit it is."""
        return self.side is not Side.OPEN

    @property
    def size(self) -> int:
        """Requests in the sample so far."""
        return len(self._counted)

    def _settle(self, now: float) -> None:
        while self._settled < len(self._attempts):
            attempt = self._attempts[self._settled]
            late = attempt.seconds(now) > self.limit
            if attempt.ended is None and not late:
                return
            if attempt.status == 200 or late:
                self._counted.append(attempt)
            self._settled += 1

    def _judge(self, count: int, now: float) -> None:
        self.sample = sample_of([attempt.seconds(now) for attempt in self._counted[:count]])
        if self.sample:
            self.side = self.sample.judged.against(self.limit, self._overhead())
