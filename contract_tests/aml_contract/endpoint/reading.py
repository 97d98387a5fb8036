"""Reading what came back, however large, endless or badly encoded it is."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import cast

import httpx

from aml_contract.exchange import KEPT

MOST_REPLY = 50 * 2**20
"""Bytes of an answer that are read: the largest legal one has 30 MiB of images, about 41 MiB
of JSON (clause M1). A little above it, how much too large an answer is can still be told."""
MOST_ITEMS = 50_000
"""Items of an answer that are read: the kit asks for a thousand at most (clause S10)."""
_MOST_REFUSAL = 2**20
_MOST_HEALTH = 64 * 2**10
_HEALTH_SECONDS = 2.0
_PIECE = 2**14
_KEYS = (b'"id"', b'"content"')
"""What every item has one of. Inside of text the quotes are escaped, and look otherwise."""


@dataclass(frozen=True)
class Reading:
    """What was read of a body, decoded."""

    body: bytes
    cut: str | None = None
    """What is wrong with it, if the rest was not read: then ``body`` is the beginning."""


class Gauge:
    """Says when an answer, piece by piece, has become more than any reader would take."""

    def __init__(self, most: int = MOST_REPLY) -> None:
        self._most = most
        self._size = 0
        self._keys = dict.fromkeys(_KEYS, 0)

    def excess(self, piece: bytes) -> str | None:
        """Count one more piece; in words why the rest need not be read, if so."""
        self._size += len(piece)
        if self._size > self._most:
            return larger_than(self._most)
        for key in _KEYS:
            self._keys[key] += piece.count(key)
            if self._keys[key] > MOST_ITEMS:
                return f"a list of more than {MOST_ITEMS:,} items"
        return None


def larger_than(most: int) -> str:
    """The words for an answer of more bytes than ``most``."""
    return f"larger than {most // 2**20} MiB" if most >= 2**20 else f"larger than {most} bytes"


async def read(response: httpx.Response) -> Reading:
    """The body, decoded, as far as it can matter; a refusal's connection is not used again.

    Raises:
        httpx.TransportError: it broke off.
        httpx.DecodingError: it is not encoded as its Content-Encoding says.
    """
    refusal = response.status_code >= 400
    most = _MOST_REFUSAL if refusal else MOST_REPLY
    length = response.headers.get("content-length", "")
    if length.isdecimal() and (len(length) > len(str(most)) or int(length) > most):
        return Reading(b"", larger_than(most))
    if refusal:
        return await _read_and_hang_up(response, most)
    return await _joined(response.aiter_bytes(), most)


async def read_health(response: httpx.Response) -> Reading:
    """The body of a health answer, or nothing: what is wrong with it is of no concern (E3)."""
    with contextlib.suppress(httpx.TransportError, httpx.DecodingError, TimeoutError):
        async with asyncio.timeout(_HEALTH_SECONDS):
            if response.status_code >= 400:
                return await _read_and_hang_up(response, _MOST_HEALTH)
            return await _joined(response.aiter_bytes(), _MOST_HEALTH)
    return Reading(b"")


async def _joined(parts: AsyncIterator[bytes], most: int) -> Reading:
    whole, gauge = bytearray(), Gauge(most)
    async for part in parts:
        whole += part
        if words := gauge.excess(part):
            return Reading(bytes(whole[:KEPT]), words)
    return Reading(bytes(whole))


async def _read_and_hang_up(response: httpx.Response, most: int) -> Reading:
    """Read a refusal and close its connection before anybody else gets it.

    httpx gives a connection back to the pool with the last byte that its own iterators
    read, so the bytes are taken from the stream below and decoded afterwards.
    """
    raw = await _joined(aiter(cast("httpx.AsyncByteStream", response.stream)), most)
    stream = response.extensions["network_stream"]
    await stream.aclose()
    for _ in range(10):  # the loop's next turns close the socket; the pool looks at it at once
        if stream.get_extra_info("is_readable"):
            break
        await asyncio.sleep(0)
    return raw if raw.cut else await _decoded(response, raw.body, most)


async def _decoded(response: httpx.Response, raw: bytes, most: int) -> Reading:
    """The bytes without their Content-Encoding, in pieces: there may be a thousand times more."""

    async def pieces() -> AsyncIterator[bytes]:
        for start in range(0, len(raw), _PIECE):
            yield raw[start : start + _PIECE]

    again = httpx.Response(response.status_code, headers=response.headers, content=pieces())
    return await _joined(again.aiter_bytes(), most)
