"""The bridge between a generator in a thread of its own and the run's event loop.

Hypothesis is synchronous and computes much: it must not hold up the loop. Its requests go
through the rule's trial as all others do: recorded, within the declared concurrency, with
the key that the endpoint takes.
"""

from __future__ import annotations

import asyncio
import concurrent.futures
import contextlib
import tempfile
import time
from collections.abc import Callable, Coroutine, Iterator, Sequence
from typing import Any, TypeVar

from aml_contract.exchange import Exchange, Operation
from aml_contract.rule import Cost
from aml_contract.trial import Trial

T = TypeVar("T")
_BUSY = frozenset({408, 425, 429, 503})


class Spent(BaseException):
    """Time or requests are used up, or the run ended.

    No ``Exception``: Hypothesis would take it for a failure and try to shrink it.
    """


class Bridge:
    """Sends for the thread, within a budget.

    Args:
        trial: the rule's.
        seconds: after which nothing more is generated.
        cost: requests at most.
    """

    def __init__(self, trial: Trial, seconds: float, cost: Cost) -> None:
        self.trial = trial
        self.spent: str | None = None
        """Why it ended early, in words."""
        self._loop = asyncio.get_running_loop()
        self._stopped = False
        self._seconds = seconds
        self._deadline = 0.0
        self._left = {"add": cost.adds, "search": cost.searches}

    def start(self) -> None:
        """The time runs from now on: what comes before it, as imports, does not count."""
        self._deadline = time.monotonic() + self._seconds

    def send(self, operation: Operation, bodies: Sequence[Any]) -> list[Exchange]:
        """Send requests side by side, each as the platform does: again, while asked to.

        Raises:
            Spent: the budget is used up.
        """
        if time.monotonic() >= self._deadline:
            self._end(f"the budget of {self._seconds:g} s was used up")
        return self.send_anyway(operation, bodies)

    def send_once(self, operation: Operation, bodies: Sequence[Any]) -> list[Exchange]:
        """Send requests, again only if they were refused for want of time or room.

        Raises:
            Spent: the budget is used up.
        """
        if time.monotonic() >= self._deadline:
            self._end(f"the budget of {self._seconds:g} s was used up")
        self._take(operation, len(bodies))
        made = self._await(self.trial.together(*(self.trial.send(operation, b) for b in bodies)))
        busy = any(one.status in _BUSY for one in made)
        return self.send_anyway(operation, bodies) if busy else made

    def send_anyway(self, operation: Operation, bodies: Sequence[Any]) -> list[Exchange]:
        """The same without regard to time: for what confirms a finding."""
        self._take(operation, len(bodies))
        insist = self.trial.insist
        return self._await(self.trial.together(*(insist(operation, body) for body in bodies)))

    def pause(self, seconds: float) -> None:
        """Wait, scaled by the run's patience."""
        self._await(self.trial.pause(seconds))

    async def in_thread(self, work: Callable[[], T]) -> T:
        """Run ``work`` in a thread; what it sends ends when the run does."""
        try:
            return await asyncio.to_thread(_kept_apart, work)
        except asyncio.CancelledError:
            self._stopped = True
            raise

    def _await(self, doing: Coroutine[Any, Any, T]) -> T:
        try:
            return asyncio.run_coroutine_threadsafe(doing, self._loop).result()
        except concurrent.futures.CancelledError as error:
            raise Spent from error

    def _take(self, operation: Operation, count: int) -> None:
        if self._stopped:
            self._end("the run ended")
        if self._left[operation] < count:
            self._end("the requests it may send were used up")
        self._left[operation] -= count

    def _end(self, words: str) -> None:
        self.spent = words
        raise Spent(words)


def _kept_apart(work: Callable[[], T]) -> T:
    with _no_files():
        return work()


@contextlib.contextmanager
def _no_files() -> Iterator[None]:
    """Keep Hypothesis' caches out of the user's directory."""
    from hypothesis import configuration  # noqa: PLC0415  an extra, and slow to import

    before = configuration.__hypothesis_home_directory  # noqa: SLF001  it has no getter
    with tempfile.TemporaryDirectory() as directory:
        configuration.set_hypothesis_home_dir(directory)
        try:
            yield
        finally:
            configuration.set_hypothesis_home_dir(before)
