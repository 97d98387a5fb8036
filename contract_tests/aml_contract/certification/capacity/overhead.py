"""The kit's own share of a latency: what it takes when the endpoint takes nothing.

Measured twice: against a local server that does nothing, one request after the other, which
is what the kit's client takes at the least; and while the load runs, as the lateness of a
clock that should tick twenty times a second, which is how long answers lie unread because
the kit is busy with others.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator
from contextlib import aclosing, asynccontextmanager

from aml_contract.certification.capacity.bounds import JUDGED
from aml_contract.documented import Documented
from aml_contract.endpoint.http import HTTPEndpoint
from aml_contract.endpoint.target import Target

_REQUESTS = 100
"""Sent one by one to the server that does nothing, the first few aside."""
_FIRST = 10
_TOGETHER = 400
"""Sent to it as fast as the kit can."""
_TICK = 0.05
_ANSWER = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 2\r\n\r\n{}"


class Overhead(Documented):
    """What the kit itself takes, in seconds; the 99th percentile of each."""

    floor: float
    """A request to a local server that does nothing."""
    lag: float
    """How long an answer lay unread during the load."""
    most: float
    """Requests a second that the kit can send, as many in flight as Adds were declared."""

    @property
    def seconds(self) -> float:
        """The share of the kit in a slow latency: both together."""
        return self.floor + self.lag


class Gauge:
    """Measures the kit while it works."""

    def __init__(self, floor: float, most: float) -> None:
        self._floor = floor
        self._most = most
        self._lags: list[float] = []

    @property
    def overhead(self) -> Overhead:
        """What is known now."""
        lag = _percentile(self._lags) if self._lags else 0.0
        return Overhead(floor=round(self._floor, 6), lag=round(lag, 6), most=round(self._most, 1))

    @asynccontextmanager
    async def watching(self) -> AsyncIterator[None]:
        """Inside, the event loop's lateness is measured."""
        task = asyncio.create_task(self._tick())
        try:
            yield
        finally:
            task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await task

    async def _tick(self) -> None:
        loop = asyncio.get_running_loop()
        while True:
            due = loop.time() + _TICK
            await asyncio.sleep(_TICK)
            self._lags.append(max(0.0, loop.time() - due))


async def gauge(body: bytes, in_flight: int) -> Gauge:
    """Measure the kit against a server that does nothing, in this process.

    Args:
        body: an ordinary Add.
        in_flight: Adds in flight, as declared.
    """
    server = await asyncio.start_server(_answer, "127.0.0.1", 0, limit=2**20)
    port = server.sockets[0].getsockname()[1]
    target = Target(url=f"http://127.0.0.1:{port}", concurrency=in_flight)
    try:
        async with aclosing(HTTPEndpoint(target.urls(), target.credentials, target)) as endpoint:
            alone = [(await endpoint.send("add", body)).seconds for _ in range(_FIRST + _REQUESTS)]
            began = time.perf_counter()
            await asyncio.gather(*(endpoint.send("add", body) for _ in range(_TOGETHER)))
            together = time.perf_counter() - began
    finally:
        server.close()
    return Gauge(_percentile(alone[_FIRST:]), _TOGETHER / together)


async def _answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Read requests to their ends and answer each at once."""
    with contextlib.suppress(OSError, asyncio.IncompleteReadError), contextlib.closing(writer):
        while True:
            head = await reader.readuntil(b"\r\n\r\n")
            length = next(
                line for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:")
            )
            await reader.readexactly(int(length.partition(b":")[2]))
            writer.write(_ANSWER)
            await writer.drain()


def _percentile(seconds: list[float]) -> float:
    return sorted(seconds)[int(JUDGED * (len(seconds) - 1))]
