"""A probe: one look at a health URL, by no more than its status."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

import httpx

from aml_contract.endpoint.tls import tls_context

Probe = Callable[[], Awaitable[int | None]]
"""Asks health once: its status, or ``None`` if nothing answered."""
_PROBE_WAIT = 5.0


def health_probe(url: str) -> Probe:
    """A function that asks ``url`` once: its status, or ``None`` if nothing answered."""

    async def probe() -> int | None:
        client = httpx.AsyncClient(verify=tls_context(), trust_env=False, timeout=_PROBE_WAIT)
        try:
            async with (
                asyncio.timeout(_PROBE_WAIT),
                client,
                client.stream("GET", url) as response,
            ):
                return response.status_code
        except (httpx.TransportError, TimeoutError):
            return None

    return probe
