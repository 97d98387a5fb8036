"""The life of an Add: claimed, stored, completed; once, whoever waits for it."""

from __future__ import annotations

import asyncio
import logging
from dataclasses import dataclass

from aml_sdk._gen.models import AddRequest
from aml_sdk.errors import Refused, SystemFailure
from aml_sdk.identity import short_digest
from aml_sdk.ledger import AddKey, Claim, Ledger
from aml_sdk.server.forgetting import Forgetting
from aml_sdk.server.logs import describe, log
from aml_sdk.server.pool import Pool
from aml_sdk.server.problem import Problem
from aml_sdk.server.settings import Settings
from aml_sdk.system import MemorySystem


@dataclass(frozen=True)
class _Flight:
    """An Add under way."""

    digest: bytes
    task: asyncio.Task[None]
    claimed: asyncio.Future[bool]
    """Whether the ids are this Add's; false if the ledger knows them with another body."""


class Adds:
    """Stores each Add once (clauses R1-R6).

    The work is a task of its own: it runs to its end although its client has gone.
    """

    def __init__(self, system: MemorySystem, ledger: Ledger, settings: Settings) -> None:
        self._system = system
        self._ledger = ledger
        self._settings = settings
        self._pool = Pool("add", settings.add_workers)
        self._flights: dict[AddKey, _Flight] = {}
        self._forgetting = Forgetting(system, ledger, self._pool)
        self._retention: asyncio.Task[None] | None = None

    async def recover(self) -> None:
        """Open the ledger, put right what an earlier life left unfinished, keep the retention.

        What cannot be discarded now stays pending, and is discarded before its redelivery.
        """
        pending = await self._ledger.open()
        await self._forgetting.recover()
        discarded = sum([await self._discarded(key) for key in pending])
        if pending:
            log(logging.WARNING, "recovered", pending=len(pending), discarded=discarded)
        if self._settings.forget_after is not None:
            self._retention = asyncio.create_task(
                self._forgetting.keep_forgetting(self._settings.forget_after, self._is_busy)
            )

    async def store(self, request: AddRequest, digest: bytes) -> None:
        """Return when the Add is stored, now or earlier.

        Args:
            request: what the system is given: without blank turns, perhaps without any.
            digest: stands for the body as it came.

        Raises:
            Problem: 422 for another body under the same ids, 409 when the same Add is still
                under way after ``duplicate_wait``, 503 when it is after ``add_deadline``, 500
                for a failure that the system did not foresee.
            SystemFailure: what the system or the ledger said.
        """
        key = AddKey(request.user_id, request.request_id)
        flight = self._flights.get(key)
        while flight is not None and flight.digest != digest:
            if await asyncio.shield(flight.claimed):
                raise _conflict()
            # The other is the one in conflict: it must not make one of this.
            await asyncio.wait([flight.task])
            flight = self._flights.get(key)
        if flight is None:
            claimed = asyncio.get_running_loop().create_future()
            task = asyncio.create_task(self._fly(key, digest, request, claimed))
            self._flights[key] = _Flight(digest, task, claimed)
            task.add_done_callback(lambda done: self._land(key, done))
            late = Problem(503, "the Add takes longer than the server waits; it goes on")
            await _ended(task, self._settings.add_deadline, late)
        else:
            late = Problem(409, "the same Add is still being processed")
            await _ended(flight.task, self._settings.duplicate_wait, late)

    async def finish(self) -> None:
        """Wait until every Add and all forgetting under way has ended."""
        if self._retention is not None:
            self._retention.cancel()
            await asyncio.wait([self._retention])
        await self._forgetting.stop()
        while self._flights:
            await asyncio.wait([flight.task for flight in self._flights.values()])
        self._pool.close()

    async def _fly(
        self, key: AddKey, digest: bytes, request: AddRequest, claimed: asyncio.Future[bool]
    ) -> None:
        await self._forgetting.finished(key.user_id)
        claim = await self._ledger.claim(key, digest)
        claimed.set_result(claim is not Claim.CONFLICT)
        if claim is Claim.DONE:
            return
        if claim is Claim.CONFLICT:
            raise _conflict()
        if claim is Claim.PENDING:
            await self._pool.run(self._system.discard, *key)
        if request.messages:
            await self._add(key, request)
        await self._ledger.complete(key)

    async def _add(self, key: AddKey, request: AddRequest) -> None:
        """Give the Add to the system; should it fail, discard what it left (clause A14).

        A refused Add is forgotten: a corrected one may come under the same ids. One that
        failed stays pending, so that its redelivery is met with a discard first.
        """
        try:
            await self._pool.run(self._system.add, request)
        except Exception as error:
            if await self._discarded(key) and isinstance(error, Refused):
                await self._ledger.release(key)
            raise

    async def _discarded(self, key: AddKey) -> bool:
        """Whether the system could discard the Add; if not, that is logged."""
        try:
            await self._pool.run(self._system.discard, *key)
        except Exception as error:  # noqa: BLE001  a system may fail in any way
            log(logging.ERROR, "discard failed", user=short_digest(key.user_id), **describe(error))
            return False
        return True

    def _is_busy(self, user_id: str) -> bool:
        return any(key.user_id == user_id for key in self._flights)

    def _land(self, key: AddKey, task: asyncio.Task[None]) -> None:
        """Log here what failed unforeseen: those who waited may have gone."""
        flight = self._flights.pop(key)
        if not flight.claimed.done():
            flight.claimed.set_result(False)
        error = None if task.cancelled() else task.exception()
        if error is not None and not isinstance(error, Problem | SystemFailure):
            log(logging.ERROR, "add failed", user=short_digest(key.user_id), **describe(error))


def _conflict() -> Problem:
    return Problem(422, "request_id: was used for another body of this user (clause R4)")


async def _ended(task: asyncio.Task[None], seconds: float, late: Problem) -> None:
    """Return when the Add is stored; raise what it ended with, or ``late`` if it has not."""
    done, _ = await asyncio.wait([task], timeout=seconds)
    if not done:
        raise late
    if task.cancelled():
        raise Problem(503, "the Add was interrupted")
    error = task.exception()
    if isinstance(error, Problem | SystemFailure):
        raise error
    if error is not None:
        raise Problem(500, "the memory system failed")
