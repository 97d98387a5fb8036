"""Where a system's methods run: on the event loop if async, else on threads of their own."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Awaitable, Callable
from concurrent.futures import CancelledError, ThreadPoolExecutor
from typing import Any


class Pool:
    """At most ``workers`` calls at once; the others wait their turn.

    Adds and Searches have a pool each, so that long Adds never keep a Search waiting.
    """

    def __init__(self, name: str, workers: int) -> None:
        self._turns = asyncio.Semaphore(workers)
        # Threads are made when they are needed: an async system has none.
        self._threads = ThreadPoolExecutor(workers, thread_name_prefix=f"aml-{name}")

    async def run(self, method: Callable[..., Any], *arguments: Any) -> Any:
        """The result of ``method(*arguments)``, be it async or blocking."""
        async with self._turns:
            if inspect.iscoroutinefunction(method):
                return await _awaited(method(*arguments))
            loop = asyncio.get_running_loop()
            result = await loop.run_in_executor(self._threads, _contained, method, *arguments)
            return await _awaited(result) if inspect.isawaitable(result) else result

    def close(self) -> None:
        """End the threads; they finish what they do."""
        self._threads.shutdown(wait=False)


def _contained(method: Callable[..., Any], *arguments: Any) -> Any:
    """Call it; a ``sys.exit`` deep inside a system ends its call, not the server."""
    try:
        return method(*arguments)
    except (StopIteration, TimeoutError, CancelledError) as error:
        # A future carries the first not at all: its waiter would wait for ever. Of the others
        # asyncio makes its own, which say nothing of where, or that we were cancelled.
        raise _escaped(error) from error
    except Exception:
        raise
    except BaseException as error:
        raise _escaped(error) from error


async def _awaited(awaitable: Awaitable[Any]) -> Any:
    """Await it; what would end the server or our task ends the call."""
    try:
        return await awaitable
    except asyncio.CancelledError as error:
        task = asyncio.current_task()
        if task is not None and task.cancelling():
            raise  # it is we who are cancelled
        raise _escaped(error) from error
    except (Exception, GeneratorExit):
        raise
    except BaseException as error:
        raise _escaped(error) from error


def _escaped(error: BaseException) -> RuntimeError:
    """What stands for it, with its places."""
    words = f"the system raised {type(error).__name__}"
    return RuntimeError(words).with_traceback(error.__traceback__)
