"""The network's troubles in the words a builder would use."""

from __future__ import annotations

import socket
import ssl
from collections.abc import Iterator

import httpx

# The first that fits anything in the chain of causes.
_CAUSES: tuple[tuple[type[BaseException], str], ...] = (
    (ConnectionRefusedError, "connection refused"),
    (ConnectionResetError, "connection reset"),
    (BrokenPipeError, "connection reset while sending"),
    (socket.gaierror, "host name not found"),
    (ssl.SSLError, "TLS error: {cause}"),
    (httpx.ConnectTimeout, "no connection in time"),
    (httpx.DecodingError, "the answer cannot be decompressed as its Content-Encoding says"),
    (httpx.ReadError, "connection reset"),
    (httpx.WriteError, "connection reset while sending"),
    (httpx.ConnectError, "could not connect ({cause})"),
    (httpx.RemoteProtocolError, "broken HTTP answer ({cause})"),
)


def in_words(trouble: BaseException) -> str:
    """Say what happened on the wire, from the exception and what caused it."""
    if isinstance(trouble, httpx.RemoteProtocolError) and "without sending" in str(trouble):
        return "connection closed without an answer"
    causes = list(_chain(trouble))
    for kind, words in _CAUSES:
        for cause in causes:
            if isinstance(cause, kind):
                return words.format(cause=cause)
    return f"{type(trouble).__name__}: {trouble}"


def _chain(error: BaseException | None) -> Iterator[BaseException]:
    seen = set()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        yield error
        error = error.__cause__ or error.__context__
