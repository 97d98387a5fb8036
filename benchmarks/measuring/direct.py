"""A memory called as a library, in a process of its own, beside the one that serves."""

from __future__ import annotations

import asyncio
import functools
import multiprocessing
import signal
import time
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from types import TracebackType
from typing import Any, NamedTuple

from aml_adapters.embedders.static import StaticEmbedder
from aml_sdk import AddRequest, MemorySystem, SearchRequest, SQLiteLedger
from aml_sdk.ledger import AddKey, body_digest
from aml_servers.finding import find_system, make_system


class Times(NamedTuple):
    """Seconds of one call."""

    whole: float
    embedding: float = 0.0
    """How much of it the embedder had."""


class Direct:
    """The process. Nothing else happens in it, and only the call itself is timed.

    Args:
        system: a memory as ``aml serve`` names it, whose methods block.
        data: its directory.
    """

    def __init__(self, system: str, data: Path) -> None:
        context = multiprocessing.get_context("spawn")
        self._pool = ProcessPoolExecutor(1, context, initializer=_open, initargs=(system, data))
        self._pool.submit(_begin)

    def __enter__(self) -> Direct:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if error is None:
            self._pool.submit(_close).result()
        self._pool.shutdown()

    def add(self, request: AddRequest) -> Times:
        """One Add."""
        return self._pool.submit(_add, request).result()

    def search(self, request: SearchRequest) -> Times:
        """One Search."""
        return self._pool.submit(_search, request).result()

    def note(self, request: AddRequest) -> Times:
        """A ledger of its own, beside the memory's data, claims and completes an Add."""
        return self._pool.submit(_note, request).result()


class _Opened:
    """What the process holds."""

    def __init__(self, system: str, data: Path) -> None:
        self.embedding = 0.0
        self._watch()
        data.mkdir(exist_ok=True)
        self.memory: MemorySystem = make_system(find_system(system), data)
        self.runner = asyncio.Runner()
        self.ledger = SQLiteLedger(data)
        self.runner.run(self.ledger.open())

    def timed(self, call: Any, request: Any) -> Times:
        self.embedding = 0.0
        began = time.perf_counter()
        call(request)
        return Times(time.perf_counter() - began, self.embedding)

    def _watch(self) -> None:
        """Add up what the embedder takes, whichever memory calls it."""
        embed = StaticEmbedder.embed

        @functools.wraps(embed)
        def watched(embedder: StaticEmbedder, texts: Any) -> Any:
            began = time.perf_counter()
            try:
                return embed(embedder, texts)
            finally:
                self.embedding += time.perf_counter() - began

        # The method is timed where it stands: mypy forbids what only a measurement may do.
        StaticEmbedder.embed = watched  # type: ignore[assignment, method-assign]


_opened: _Opened


def _open(system: str, data: Path) -> None:
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # Ctrl-C ends it without a word
    global _opened  # noqa: PLW0603  a pool's process has no other place
    _opened = _Opened(system, data)


def _begin() -> None:
    """Nothing: the process starts with its first task, while others start too."""


def _add(request: AddRequest) -> Times:
    return _opened.timed(_opened.memory.add, request)


def _search(request: SearchRequest) -> Times:
    return _opened.timed(_opened.memory.search, request)


def _note(request: AddRequest) -> Times:
    key, ledger = AddKey(request.user_id, request.request_id), _opened.ledger

    async def note() -> Times:
        began = time.perf_counter()
        await ledger.claim(key, body_digest(request))
        await ledger.complete(key)
        return Times(time.perf_counter() - began)

    return _opened.runner.run(note())


def _close() -> None:
    _opened.memory.close()
    _opened.runner.run(_opened.ledger.close())
    _opened.runner.close()
