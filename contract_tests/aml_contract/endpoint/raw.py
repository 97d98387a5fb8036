"""Raw connections: HTTP/1.1 as it travels, where a client library would hide it.

One connection, one request after the other, and every byte of ours by our own hand:
the spelling of headers, the way a body is cut, the moment the client goes away. h11
reads what comes back, so that broken framing is seen and not repaired.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from urllib.parse import urlsplit

import h11

from aml_contract.endpoint.auth import Auth
from aml_contract.endpoint.reading import Gauge, Reading
from aml_contract.endpoint.tls import tls_context
from aml_contract.exchange import KEPT, Exchange, Operation

Headers = Sequence[tuple[str, str]]

_CONNECT_TIMEOUT = 10.0
_READ = 65_536
_MOST_HEADERS = 100 * 2**10
"""What the client of ordinary exchanges takes too."""


@dataclass(frozen=True)
class RawSettings:
    """What a raw connection shares with the endpoint it belongs to."""

    url: str
    """Where requests go unless they say otherwise."""
    auth: Auth
    """Sent with plain headers, and kept out of every exchange."""
    timeout: float
    """Seconds an answer may take."""
    clock: Callable[[], float]
    """Seconds since the run began."""
    record: Callable[[Exchange], None]
    """Is given every exchange."""


class RawConnection:
    """One TCP (or TLS) connection to an endpoint; see :func:`connect`."""

    def __init__(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, settings: RawSettings
    ) -> None:
        self._reader = reader
        self._writer = writer
        self._settings = settings
        self._http = h11.Connection(h11.CLIENT, max_incomplete_event_size=_MOST_HEADERS)
        self._ended = False

    @property
    def reusable(self) -> bool:
        """Whether the answers so far promised that another request may follow."""
        return self._http.our_state is h11.DONE and self._http.their_state is h11.DONE

    def plain_headers(self, body: bytes) -> list[tuple[str, str]]:
        """What an ordinary client sends, the key included."""
        return [
            ("Content-Type", "application/json"),
            ("Content-Length", str(len(body))),
            *self._settings.auth.headers.items(),
        ]

    async def send(  # noqa: PLR0913  each is one thing a client may do otherwise
        self,
        operation: Operation,
        body: bytes,
        *,
        url: str | None = None,
        headers: Headers | None = None,
        pieces: int = 1,
        gap: float = 0.0,
        await_continue: float = 0.0,
        version: str = "1.1",
    ) -> Exchange:
        """Send one request and read its answer; trouble becomes an exchange without status.

        Args:
            operation: for the record.
            body: cut into ``pieces``; chunked if the headers say so.
            url: another path of the same server.
            headers: instead of the plain ones; ``Host`` is added in front.
            pieces: segments the body is written in.
            gap: seconds before each of them.
            await_continue: seconds to wait for 100 Continue (or an answer) before the body.
            version: of HTTP, as the request line names it; 1.0 knows no second request.
        """
        sent = self.plain_headers(body) if headers is None else headers
        began, started = time.perf_counter(), self._settings.clock()
        response, reply, error = None, Reading(b""), None
        try:
            async with asyncio.timeout(self._settings.timeout):
                if self._http.our_state is h11.DONE:
                    self._http.start_next_cycle()
                await self._write_head(url, sent, version)
                early = await self._early(await_continue) if await_continue else None
                if early is None:
                    await self._write_body(body, pieces, gap)
                response, reply = await self._answer(early)
        except TimeoutError:
            error = f"no answer within {self._settings.timeout:g} s"
        except h11.RemoteProtocolError as trouble:
            whole = "connection closed without a whole answer"
            error = whole if self._ended else f"broken HTTP answer ({trouble})"
        except OSError:
            error = "connection reset"
        return self._exchanged(operation, url, sent, body, began, started, response, reply, error)

    async def abandon(self, operation: Operation, body: bytes, *, share: float) -> Exchange:
        """Send a request with the first ``share`` of its body; close without reading."""
        sent = self.plain_headers(body)
        began, started = time.perf_counter(), self._settings.clock()
        part = body[: int(len(body) * share)]
        with contextlib.suppress(OSError):
            await self._write_head(None, sent)
            self._writer.write(part)
            await self._writer.drain()
        gone = "the client went away on purpose"
        return self._exchanged(
            operation, None, sent, part, began, started, None, Reading(b""), gone
        )

    async def _write_head(self, url: str | None, headers: Headers, version: str = "1.1") -> None:
        parts = urlsplit(url or self._settings.url)
        request = h11.Request(
            method="POST",
            target=(parts.path or "/") + (f"?{parts.query}" if parts.query else ""),
            headers=[("Host", parts.netloc), ("User-Agent", "aml-contract"), *headers],
        )
        head = self._http.send(request) or b""
        line = f" HTTP/{version}\r\n".encode()  # h11 itself writes 1.1 only
        self._writer.write(head.replace(b" HTTP/1.1\r\n", line, 1))
        await self._writer.drain()

    async def _write_body(self, body: bytes, pieces: int, gap: float) -> None:
        size = max(1, -(-len(body) // pieces))
        for start in range(0, len(body), size):
            if gap:
                await asyncio.sleep(gap)
            data = self._http.send(h11.Data(data=body[start : start + size]))
            self._writer.write(data or b"")
            await self._writer.drain()
        self._writer.write(self._http.send(h11.EndOfMessage()) or b"")
        await self._writer.drain()

    async def _early(self, seconds: float) -> h11.Response | None:
        """Wait for 100 Continue; a final answer that comes instead is returned."""
        try:
            async with asyncio.timeout(seconds):
                event = await self._event()
        except TimeoutError:
            return None
        return event if isinstance(event, h11.Response) else None

    async def _answer(self, response: h11.Response | None) -> tuple[h11.Response, Reading]:
        parts, gauge = [], Gauge()
        while True:
            match await self._event():
                case h11.Response() as made:
                    response = made
                case h11.Data() as data:
                    parts.append(bytes(data.data))
                    if response is not None and (words := gauge.excess(parts[-1])):
                        return response, Reading(b"".join(parts)[:KEPT], words)
                case h11.EndOfMessage() if response is not None:
                    return response, Reading(b"".join(parts))
                case h11.ConnectionClosed():
                    raise h11.RemoteProtocolError("connection closed")
                case _:
                    continue

    async def _event(self) -> object:
        while (event := self._http.next_event()) is h11.NEED_DATA:
            data = await self._reader.read(_READ)
            self._ended = not data
            self._http.receive_data(data)
        return event

    def _exchanged(  # noqa: PLR0913, PLR0917  the parts of an exchange, in one place
        self,
        operation: Operation,
        url: str | None,
        headers: Headers,
        body: bytes,
        began: float,
        started: float,
        response: h11.Response | None,
        reply: Reading,
        error: str | None,
    ) -> Exchange:
        made = Exchange(
            operation=operation,
            method="POST",
            url=url or self._settings.url,
            headers=self._settings.auth.shown_headers(dict(headers)),
            body=body,
            status=response.status_code if response else None,
            reply_headers={k.decode(): v.decode("latin-1") for k, v in response.headers}
            if response
            else {},
            reply=reply.body,
            seconds=time.perf_counter() - began,
            started=started,
            error=error,
            cut=reply.cut,
        )
        self._settings.record(made)
        return made


@asynccontextmanager
async def connect(settings: RawSettings) -> AsyncIterator[RawConnection]:
    """Open a connection to the server of ``settings.url``; it is closed in the end.

    Raises:
        OSError: no connection came about.
    """
    parts = urlsplit(settings.url)
    secure = parts.scheme == "https"
    try:
        async with asyncio.timeout(_CONNECT_TIMEOUT):
            reader, writer = await asyncio.open_connection(
                parts.hostname,
                parts.port or (443 if secure else 80),
                ssl=tls_context() if secure else None,
            )
    except TimeoutError as error:
        raise ConnectionError(f"no connection within {_CONNECT_TIMEOUT:g} s") from error
    try:
        yield RawConnection(reader, writer, settings)
    finally:
        writer.close()
        with contextlib.suppress(OSError, TimeoutError):
            async with asyncio.timeout(_CONNECT_TIMEOUT):
                await writer.wait_closed()
