"""Users are forgotten whole: by the system, then by the ledger (clause L3)."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable

from aml_sdk.errors import Unavailable
from aml_sdk.identity import short_digest
from aml_sdk.ledger import Ledger
from aml_sdk.server.logs import describe, log
from aml_sdk.server.pool import Pool
from aml_sdk.system import MemorySystem

_LONGEST_PAUSE = 3600.0
"""Seconds between two looks for users to forget, at most."""
_SHARE = 10
"""Or this part of the time after which they are forgotten."""


class Forgetting:
    """Forgets users who have been idle, and finishes what was begun.

    Nothing of a user is forgotten while an Add of theirs is under way, and no Add begins
    while they are being forgotten (:meth:`finished`).
    """

    def __init__(self, system: MemorySystem, ledger: Ledger, pool: Pool) -> None:
        self._system = system
        self._ledger = ledger
        self._pool = pool
        self._begun: set[str] = set()
        self._at_work: dict[str, asyncio.Task[None]] = {}

    async def recover(self) -> None:
        """Finish what an earlier life began; what fails is tried again before the user's Adds."""
        self._begun.update(await self._ledger.begun_forgetting())
        for user_id in list(self._begun):
            await self._tried(user_id)

    async def finished(self, user_id: str) -> None:
        """Return when nothing of the user is left to be forgotten.

        Raises:
            Unavailable: what was begun cannot be finished now.
        """
        if user_id in self._at_work:
            await asyncio.wait([self._at_work[user_id]])
        if user_id in self._begun and not await self._tried(user_id):
            raise Unavailable("what was stored for this user is to be forgotten first")

    async def keep_forgetting(self, after: float, busy: Callable[[str], bool]) -> None:
        """Forget users ``after`` seconds without an Add, for ever; ``busy`` ones later."""
        pause = min(_LONGEST_PAUSE, after / _SHARE)
        while True:
            await self._sweep(time.time() - after, busy)
            await asyncio.sleep(pause)

    async def _sweep(self, moment: float, busy: Callable[[str], bool]) -> None:
        try:
            idle = await self._ledger.idle_since(moment)
        except Exception as error:  # noqa: BLE001  the next look may succeed
            log(logging.ERROR, "cannot look for idle users", **describe(error))
            return
        for user_id in idle:
            # No await between the look and the task: an Add that comes now waits for it.
            if not busy(user_id) and user_id not in self._at_work:
                await self._tried(user_id, idle_since=moment)

    async def _tried(self, user_id: str, idle_since: float | None = None) -> bool:
        """Forget a user; whether that went well, else it is logged."""
        try:
            await self._finish(user_id, idle_since)
        except Exception as error:  # noqa: BLE001  a system may fail in any way
            log(logging.ERROR, "forget failed", user=short_digest(user_id), **describe(error))
            return False
        return True

    async def _finish(self, user_id: str, idle_since: float | None = None) -> None:
        task = self._at_work.get(user_id)
        if task is None:
            task = asyncio.create_task(self._forget(user_id, idle_since))
            self._at_work[user_id] = task
            task.add_done_callback(lambda _: self._at_work.pop(user_id))
        await asyncio.shield(task)  # it goes on although the one who asked has gone

    async def _forget(self, user_id: str, idle_since: float | None) -> None:
        if user_id not in self._begun:
            begun = await self._ledger.begin_forgetting(user_id, "retention", idle_since=idle_since)
            if not begun:  # an Add came since
                return
            self._begun.add(user_id)
        await self._pool.run(self._system.forget, user_id)
        adds = await self._ledger.forget(user_id)
        self._begun.discard(user_id)
        log(logging.INFO, "forgotten", user=short_digest(user_id), adds=adds)

    async def stop(self) -> None:
        """Wait for what is under way."""
        while self._at_work:
            await asyncio.wait(list(self._at_work.values()))
