"""Reading what came back, however large, endless or badly encoded it is."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from typing import cast

import httpx

MOST_REPLY = 64 * 2**20
"""Bytes of an answer that are read: half as much again as the largest legal one (M1)."""
_MOST_HEALTH = 64 * 2**10
_HEALTH_SECONDS = 2.0
_PIECE = 2**14


class TooLargeError(Exception):
    """The answer is larger than :data:`MOST_REPLY`, on the wire or decompressed."""


async def read(response: httpx.Response) -> bytes:
    """The whole body, decoded; the connection of a refusal is not used again.

    Raises:
        TooLargeError: it is too large.
        httpx.TransportError: it broke off.
        httpx.DecodingError: it is not encoded as its Content-Encoding says.
    """
    length = response.headers.get("content-length", "")
    if length.isdecimal() and (len(length) > len(str(MOST_REPLY)) or int(length) > MOST_REPLY):
        raise TooLargeError
    if response.status_code >= 400:
        return await _read_and_hang_up(response)
    return await _joined(response.aiter_bytes(), MOST_REPLY)


async def read_health(response: httpx.Response) -> bytes:
    """The body of a health answer, or nothing: what is wrong with it is of no concern (E3)."""
    with contextlib.suppress(
        httpx.TransportError, httpx.DecodingError, TooLargeError, TimeoutError
    ):
        async with asyncio.timeout(_HEALTH_SECONDS):
            if response.status_code >= 400:
                return await _read_and_hang_up(response)
            return await _joined(response.aiter_bytes(), _MOST_HEALTH)
    return b""


async def _joined(parts: AsyncIterator[bytes], most: int) -> bytes:
    whole = bytearray()
    async for part in parts:
        whole += part
        if len(whole) > most:
            raise TooLargeError
    return bytes(whole)


async def _read_and_hang_up(response: httpx.Response) -> bytes:
    """Read a refusal and close its connection before anybody else gets it.

    httpx gives a connection back to the pool with the last byte that its own iterators
    read, so the bytes are taken from the stream below and decoded afterwards.
    """
    raw = await _joined(aiter(cast("httpx.AsyncByteStream", response.stream)), MOST_REPLY)
    stream = response.extensions["network_stream"]
    await stream.aclose()
    for _ in range(10):  # the loop's next turns close the socket; the pool looks at it at once
        if stream.get_extra_info("is_readable"):
            break
        await asyncio.sleep(0)
    return await _decoded(response, raw)


async def _decoded(response: httpx.Response, raw: bytes) -> bytes:
    """The bytes without their Content-Encoding, in pieces: there may be a thousand times more."""

    async def pieces() -> AsyncIterator[bytes]:
        for start in range(0, len(raw), _PIECE):
            yield raw[start : start + _PIECE]

    again = httpx.Response(response.status_code, headers=response.headers, content=pieces())
    return await _joined(again.aiter_bytes(), MOST_REPLY)
