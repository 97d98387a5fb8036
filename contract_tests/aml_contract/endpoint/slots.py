"""Slots: the requests that may be in flight at once, and who gets the next one."""

from __future__ import annotations

import asyncio
import heapq
import itertools
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from contextvars import ContextVar

rank: ContextVar[int] = ContextVar("rank", default=0)
"""How urgent what is sent from here is: 0 is served first. Tasks hand it on to theirs."""


class Slots:
    """So many requests at once.

    Of those who wait, the ones that go ahead are next; then the lowest :data:`rank`, and
    within a rank who came first.

    Args:
        count: places there are, numbered from 0.
    """

    def __init__(self, count: int) -> None:
        self._free = list(reversed(range(count)))
        self._order = itertools.count()
        self._waiting: list[tuple[bool, int, int, asyncio.Future[int]]] = []
        self._room = asyncio.Event()
        self._room.set()

    async def room(self) -> None:
        """Wait until a place is free that nobody waits for; it is not taken."""
        while not self._free:
            await self._room.wait()

    @asynccontextmanager
    async def one(self, *, ahead: bool = False) -> AsyncIterator[int]:
        """A place for one request; gives its number, the one that was given up last.

        Args:
            ahead: before all that only have a rank. A Search that shows whether an Add was
                findable at once must not wait until it would have been found anyway.
        """
        place = await self._take(ahead=ahead)
        try:
            yield place
        finally:
            self._give_up(place)

    async def _take(self, *, ahead: bool) -> int:
        if self._free:
            place = self._free.pop()
            if not self._free:
                self._room.clear()
            return place
        turn: asyncio.Future[int] = asyncio.get_running_loop().create_future()
        heapq.heappush(self._waiting, (not ahead, rank.get(), next(self._order), turn))
        try:
            return await turn
        except asyncio.CancelledError:
            if not turn.cancelled():  # the place was given, and is not wanted any more
                self._give_up(turn.result())
            raise

    def _give_up(self, place: int) -> None:
        while self._waiting:
            turn = heapq.heappop(self._waiting)[-1]
            if not turn.done():  # cancelled ones lie here until their turn
                turn.set_result(place)
                return
        self._free.append(place)
        self._room.set()
