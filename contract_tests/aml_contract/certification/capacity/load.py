"""The load: Adds and Searches in flight as the platform keeps them.

As many users as Adds were declared are served side by side, each user's Adds one after the
other; a user that is through makes room for the next. Some Adds are followed at once by a
Search for something that the same user has said so far (clause S13), which holds up no Add.
Afterwards every acknowledged Add is looked for. A place stays with its request: while one
waits to be sent again, it serves nobody else.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Coroutine, Iterable
from typing import NamedTuple, TypeVar

from aml_contract.body import dump
from aml_contract.certification.capacity.bounds import Side
from aml_contract.certification.capacity.platform import Kind
from aml_contract.certification.capacity.record import Kept, Point, Record
from aml_contract.certification.capacity.sending import DiedError, Sender, Sent
from aml_contract.certification.capacity.users import Chunk, Crowd
from aml_contract.smoke.answers import ContractBrokenError, check_add, contents
from aml_contract.smoke.run import TOP_K

_TICK, _TICKS = 1.0, 4
"""Seconds after which it is seen whether all is clear, though nothing is answered; and how
often, at the least, while a request may be answered in time."""

T = TypeVar("T")


class _Asked(NamedTuple):
    """A Search that may be sent."""

    kept: Kept
    since: float


class Load:
    """What is in flight at one endpoint.

    Args:
        sender: how it is sent, and what counts it.
        crowd: whose Adds.
        record: where it is written down.
        adds: Adds in flight, as declared.
        searches: Searches in flight, as declared.
        verbatim: whether the memory returns what it was told in its own words.
    """

    def __init__(  # noqa: PLR0913  what a load is made of
        self,
        sender: Sender,
        crowd: Crowd,
        record: Record,
        *,
        adds: int,
        searches: int,
        verbatim: bool = True,
    ) -> None:
        self._sender = sender
        self._crowd = crowd
        self._record = record
        self._adds = adds
        self._searches = searches
        self._verbatim = verbatim
        self._tallies = sender.tallies
        self._over = asyncio.Event()
        self.full: tuple[float, float] = (0.0, 0.0)
        """When the last load began and when nothing more was begun, by the event loop's clock."""

    async def one_by_one(self, chunks: Iterable[Chunk], deadline: float) -> None:
        """These Adds of one user, each with a Search for it, nothing else in flight.

        Args:
            chunks: what to add.
            deadline: when no further one is begun, by the event loop's clock.
        """
        for chunk in chunks:
            if self._now >= deadline:
                return
            kept = await self._add(chunk, self._now)
            if kept is None or await self._search(kept, self._now) is None:
                return

    async def mixed(self, deadline: float) -> None:
        """Keep Adds in flight, and the Searches that follow, until it is clear how that goes.

        Args:
            deadline: when nothing more is begun, by the event loop's clock.
        """
        ready: asyncio.Queue[_Asked | None] = asyncio.Queue()
        writers = [self._write(ready) for _ in range(self._adds)]
        readers = [self._read(ready) for _ in range(self._searches)]

        def no_more_searches() -> None:
            while not ready.empty():  # all of it is asked for afterwards anyway
                ready.get_nowait()
            for _ in readers:
                ready.put_nowait(None)

        cut = await self._until_clear(
            [*writers, *readers], deadline, self._adds_are_clear, no_more_searches
        )
        self._record.unfinished += sum(number < self._adds for number in cut)

    async def look_for(
        self, wanted: Iterable[Kept], deadline: float, *, until_clear: bool = False
    ) -> None:
        """Search for what was acknowledged, with as many Searches in flight as declared.

        Args:
            wanted: what to look for.
            deadline: when nothing more is begun, by the event loop's clock.
            until_clear: whether to end as soon as the latency of Searches is clear.
        """
        left = iter(wanted)

        def clear() -> bool:
            told = self._tallies["search"].look(self._now)
            return until_clear and told

        async def reader() -> None:
            free: float | None = self._now
            for kept in left:
                if free is None or self._over.is_set():
                    return
                free = await self._search(kept, free)
                self._over_if(clear())

        await self._until_clear([reader() for _ in range(self._searches)], deadline, clear)

    # -- one request after the other -----------------------------------------------------

    async def _write(self, ready: asyncio.Queue[_Asked | None]) -> None:
        free = self._now
        while not self._over.is_set():
            own: list[Kept] = []
            for chunk in self._crowd.next().talk():
                kept = await self._add(chunk, free)
                if kept is None:
                    return
                free = kept.since
                own.append(kept)
                if chunk.asks is not None:
                    ready.put_nowait(_Asked(own[chunk.asks], free))
                self._over_if(self._adds_are_clear())
                if self._over.is_set():
                    return

    async def _read(self, ready: asyncio.Queue[_Asked | None]) -> None:
        free: float | None = self._now
        while free is not None and (asked := await ready.get()):
            free = await self._search(asked.kept, max(free, asked.since))

    async def _add(self, chunk: Chunk, intended: float) -> Kept | None:
        """Send an Add; ``None`` if it is not acknowledged."""

        def read(sent: Sent) -> Kept:
            check_add(sent.exchange, sent.tries, chunk.body)
            return Kept(chunk.user_id, chunk.canary, sent.answered)

        made = await self._accepted("add", chunk.data, intended, chunk.history, read)
        if made is None:
            return None
        self._record.histories[chunk.user_id] += 1
        self._record.kept.append(made[0])
        return made[0]

    async def _search(self, kept: Kept, intended: float) -> float | None:
        """Look for what was kept; gives when the answer came, ``None`` if it was no good one."""

        def read(sent: Sent) -> bool:
            texts = contents(sent.exchange, sent.tries, TOP_K)
            return bool(kept.canary.shown_by(texts, verbatim=self._verbatim))

        body = {"query": kept.canary.query, "user_id": kept.user_id, "top_k": TOP_K}
        history = self._record.histories[kept.user_id]
        made = await self._accepted("search", dump(body), intended, history, read)
        if made is None:
            return None
        kept.seen(shown=made[0])
        return made[1]

    async def _accepted(
        self,
        operation: Kind,
        data: bytes,
        intended: float,
        history: int,
        read: Callable[[Sent], T],
    ) -> tuple[T, float] | None:
        """What ``read`` makes of a good answer, and when it came; any other ends the load."""
        try:
            sent = await self._sender.send(operation, data, intended)
        except DiedError as error:
            self._record.died(operation, str(error))
            self._over.set()
            return None
        try:
            await sent.exchange.parsed()
            found = read(sent)
        except ContractBrokenError as error:
            self._record.broken(error.exchange, str(error), sent.tries)
            self._over.set()
            return None
        point = Point(history=history, seconds=round(sent.seconds, 6), waited=round(sent.waited, 3))
        self._record.accepted(operation, point, sent.answered)
        return found, sent.answered

    # -- side by side --------------------------------------------------------------------

    async def _until_clear(
        self,
        work: list[Coroutine[object, object, None]],
        deadline: float,
        clear: Callable[[], bool],
        then: Callable[[], None] = lambda: None,
    ) -> list[int]:
        """Do all of it until it ends by itself, or until all is clear or time is over.

        What is in flight then has as long as a request may take. Gives the places in
        ``work`` of what was cut off after that.
        """
        if not self._record.troubles:
            self._over.clear()
        limit = max(tally.limit for tally in self._tallies.values())
        left = len(work)

        async def counted(each: Coroutine[object, object, None]) -> None:
            nonlocal left
            await each
            left -= 1
            self._over_if(not left)

        began = self._now
        lanes = self._sender.endpoint.lanes(adds=self._adds, searches=self._searches)
        async with lanes, asyncio.TaskGroup() as group:
            tasks = [group.create_task(counted(each)) for each in work]
            while not self._over.is_set():
                # A request that hangs brings no answer after which anybody would look.
                with contextlib.suppress(TimeoutError):
                    async with asyncio.timeout(min(limit / _TICKS, _TICK)):
                        await self._over.wait()
                self._over_if(clear() or self._now >= deadline)
            self.full = began, self._now
            then()
            _, cut = await asyncio.wait(tasks, timeout=limit)
            for task in cut:
                task.cancel()
        return [number for number, task in enumerate(tasks) if task in cut]

    def _adds_are_clear(self) -> bool:
        self._tallies["search"].look(self._now)
        clear = self._tallies["add"].look(self._now)
        return clear or self._tallies["search"].side is Side.OVER

    def _over_if(self, clear: bool) -> None:
        if clear:
            self._over.set()

    @property
    def _now(self) -> float:
        return asyncio.get_running_loop().time()
