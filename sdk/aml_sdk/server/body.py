"""The bytes of a request, read up to a limit."""

from __future__ import annotations

import asyncio

from starlette.requests import ClientDisconnect, Request

from aml_sdk.server.problem import Problem

_DRAINED = 4
"""A refused body of up to so many times the limit is read away to keep the connection."""


async def read_body(request: Request, *, limit: int, seconds: float) -> bytes:
    """The whole body.

    Raises:
        Problem: 413 above the limit, 415 for an encoded body, 408 when it takes longer, 400 when
            the client left before the end.
    """
    length = _check_headers(request, limit)
    if length == 0:
        return b""
    parts: list[bytes] = []
    size = 0
    try:
        async with asyncio.timeout(seconds):
            async for part in request.stream():
                size += len(part)
                if size > limit:
                    raise _too_large(limit, {})
                if part:
                    parts.append(part)
    except TimeoutError:
        raise Problem(
            408, "the body did not arrive in time", headers={"Connection": "close"}
        ) from None
    except ClientDisconnect:
        raise Problem(400, "the client left before the end of the body") from None
    return parts[0] if len(parts) == 1 else b"".join(parts)


def early_refusal_headers(request: Request) -> dict[str, str]:
    """Headers for an answer that is given before the body was read.

    The server reads the rest away, so the connection stays usable. Not so for a client that
    waits for ``100 Continue``: whether its body still comes cannot be known.
    """
    return {"Connection": "close"} if "expect" in request.headers else {}


def _check_headers(request: Request, limit: int) -> int | None:
    headers = request.headers
    if headers.get("content-encoding", "identity").strip().lower() not in {"", "identity"}:
        raise Problem(
            415,
            "the body is encoded; send it without Content-Encoding",
            headers={"Accept-Encoding": "identity"},
        )
    declared = headers.get("content-length", "")
    if not declared.isdecimal():
        return None
    length = int(declared)
    if length > limit:
        too_much = {"Connection": "close"} if length > _DRAINED * limit else {}
        raise _too_large(limit, too_much)
    return length


def _too_large(limit: int, headers: dict[str, str]) -> Problem:
    return Problem(413, f"the body is larger than {limit} bytes", headers=headers)
