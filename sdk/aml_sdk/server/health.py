"""Whether the system can serve, asked without waiting behind Adds (clause E3)."""

from __future__ import annotations

import asyncio
import inspect
import logging
import threading
from typing import Any

from aml_sdk.server.logs import describe, log
from aml_sdk.system import MemorySystem


class Health:
    """Asks ``system.health`` on no pool that Adds or Searches may fill.

    One question is open at a time: however often the URL is polled, a check that hangs
    holds one thread.
    """

    def __init__(self, system: MemorySystem, timeout: float) -> None:
        self._method = system.health
        self._timeout = timeout
        self._asked: asyncio.Future[Any] | None = None
        # The default says yes; no need to ask it.
        self._default = type(system).health is MemorySystem.health

    async def check(self) -> bool:
        """The system's answer; false when it fails or takes longer than the timeout."""
        if self._default:
            return True
        if self._asked is None or self._asked.done():
            self._asked = self._ask()
        try:
            done, _ = await asyncio.wait([self._asked], timeout=self._timeout)
            return bool(done and self._asked.result())
        except Exception as error:  # noqa: BLE001  a system may fail in any way
            log(logging.ERROR, "health check failed", **describe(error))
            return False

    def _ask(self) -> asyncio.Future[Any]:
        future: asyncio.Future[Any]
        if inspect.iscoroutinefunction(self._method):
            future = asyncio.ensure_future(self._method())
        else:
            future = asyncio.ensure_future(self._ask_blocking())
        future.add_done_callback(_read)
        return future

    async def _ask_blocking(self) -> Any:
        result = await self._ask_on_a_thread()
        return await result if inspect.isawaitable(result) else result

    def _ask_on_a_thread(self) -> asyncio.Future[Any]:
        loop = asyncio.get_running_loop()
        future: asyncio.Future[Any] = loop.create_future()

        def ask() -> None:
            try:
                result, error = self._method(), None
            except Exception as failure:  # noqa: BLE001  handed to the one who asked
                result, error = None, failure
            if not loop.is_closed():
                loop.call_soon_threadsafe(_settle, future, result, error)

        # A daemon: a check that hangs must not keep the process from ending.
        threading.Thread(target=ask, name="aml-health", daemon=True).start()
        return future


def _settle(future: asyncio.Future[Any], result: Any, error: Exception | None) -> None:
    if future.cancelled():
        return
    if error is not None:
        future.set_exception(error)
    else:
        future.set_result(result)


def _read(future: asyncio.Future[Any]) -> None:
    """Look at the exception, which nobody may have waited for."""
    if not future.cancelled():
        future.exception()
