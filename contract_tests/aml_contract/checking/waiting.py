"""Patience, aloud: a run that waits for an answer says for which, and how long it will."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator

from aml_contract.endpoint.http import HTTPEndpoint

FIRST = 30.0
"""Seconds without an answer after which a word is said; then after twice as many each time."""


async def tell_of_waiting(
    endpoint: HTTPEndpoint, say: Callable[[str], None], first: float = FIRST
) -> None:
    """Say which request has had no answer for long; ends only by being cancelled."""
    due = _doubling(first)
    limit = next(due)
    while True:
        await asyncio.sleep(first / 10)
        seconds, operation = endpoint.longest_wait or (0.0, "health")
        if seconds < first:
            due = _doubling(first)
            limit = next(due)
        elif seconds >= limit:
            limit = next(due)
            say(
                f"no answer to {operation.capitalize()} for {seconds:.0f} s; it is given "
                f"{endpoint.target.timeout:,.0f} s, as the platform does (--timeout)"
            )


def _doubling(seconds: float) -> Iterator[float]:
    while True:
        yield seconds
        seconds *= 2
