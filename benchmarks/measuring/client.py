"""A client that costs little beside what it measures: about 0.2 ms a request.

aiohttp, for httpx takes five times as much, which would be told as the server's.
"""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from types import TracebackType

import aiohttp

_PATIENCE = 600


@dataclass(frozen=True, kw_only=True)
class Until:
    """When no more requests are sent."""

    most: int
    """After so many."""
    least: int = 1
    """Not before so many, though time is over."""
    seconds: float = math.inf
    """After so long."""

    def taken_of(self, bodies: Iterable[bytes]) -> Iterator[bytes]:
        """Those of the bodies that are sent."""
        began = time.perf_counter()
        for number, body in enumerate(islice(bodies, self.most)):
            if number >= self.least and time.perf_counter() - began > self.seconds:
                return
            yield body


@dataclass(frozen=True)
class Load:
    """What came of requests that were kept in flight, in the order in which they ended."""

    latencies: list[float]
    """Seconds from the sending of each until its answer was read."""
    seconds: float
    """From the first sending to the last answer."""


class Client:
    """Sends requests to one server over connections that stay open.

    Every answer must be a 200: refusals are quick, and would be taken for speed.
    """

    def __init__(self, url: str) -> None:
        self._url = url
        self._runner = asyncio.Runner()

    def __enter__(self) -> Client:
        self._session = self._runner.run(_session())
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._runner.run(self._session.close())
        self._runner.close()

    def once(self, path: str, body: bytes) -> tuple[float, bytes]:
        """Seconds of one request, and its answer."""
        return self._runner.run(self._send(path, body))

    def load(self, path: str, bodies: Iterable[bytes], in_flight: int, until: Until) -> Load:
        """Keep so many requests in flight: each is sent when another has been answered."""
        return self._runner.run(self._load(path, iter(bodies), in_flight, until))

    def streams(self, path: str, streams: Iterable[Iterable[bytes]]) -> Load:
        """Send streams side by side, the requests of each one after the other."""
        return self._runner.run(self._streams(path, streams))

    async def _load(self, path: str, bodies: Iterator[bytes], in_flight: int, until: Until) -> Load:
        shared = until.taken_of(bodies)
        return await self._streams(path, [shared] * in_flight)

    async def _streams(self, path: str, streams: Iterable[Iterable[bytes]]) -> Load:
        latencies: list[float] = []

        async def send(stream: Iterable[bytes]) -> None:
            for body in stream:
                took, _ = await self._send(path, body)
                latencies.append(took)

        began = time.perf_counter()
        async with asyncio.TaskGroup() as group:
            for stream in streams:
                group.create_task(send(stream))
        return Load(latencies, time.perf_counter() - began)

    async def _send(self, path: str, body: bytes) -> tuple[float, bytes]:
        began = time.perf_counter()
        async with self._session.post(self._url + path, data=body) as response:
            answer = await response.read()
        took = time.perf_counter() - began
        if response.status != 200:
            raise RuntimeError(f"{path} was answered with {response.status}: {answer[:200]!r}")
        return took, answer


async def _session() -> aiohttp.ClientSession:
    return aiohttp.ClientSession(
        headers={"Content-Type": "application/json"},
        timeout=aiohttp.ClientTimeout(total=_PATIENCE),
    )
