"""What an Add costs: over HTTP, as a call of the memory, as a call of the library behind it."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from statistics import fmean
from typing import Any

from aml_sdk import AddRequest
from benchmarks.measuring.client import Client
from benchmarks.measuring.direct import Direct, Times
from benchmarks.measuring.filling import Stores
from benchmarks.measuring.serving import served
from benchmarks.measuring.talk import USER, body, dealt, said
from benchmarks.measuring.turns import in_turns

IN_FLIGHT = 16
_WARM = 3
"""Chunks that go in before any is timed."""


def adding(system: str, library: str | None, stores: Stores) -> dict[str, Any]:
    """Times of Adds into stores that begin empty.

    The last conversation goes in chunk by chunk, each in turns over HTTP, as a call of the
    memory, of a ledger, and of the library behind the memory. Then the others go in over HTTP,
    16 Adds in flight, of 16 users.

    Args:
        system: a memory as ``aml serve`` names it.
        library: what is behind it, likewise; ``None`` if the memory is itself the library.
        stores: what is said, and a directory on the disk that is measured.

    Returns:
        Seconds of each chunk: ``http``, ``direct``, of which ``embedding``, ``ledger``, and
        perhaps ``library``; ``messages``, how many a chunk has on average. Of the ``crowd`` its
        ``chunks``, ``seconds``, and ``cpu``, seconds of the server. ``empty``: its resident
        memory after the first chunks, in MB.
    """
    *others, last = stores.talk
    chunks = list(said(last, USER))
    more = [add for each in others or [last] for add in said(each, f"crowd:{each.name}")]
    with ExitStack() as stack:
        root = Path(stack.enter_context(tempfile.TemporaryDirectory(dir=stores.directory)))
        memory = stack.enter_context(Direct(system, root / "direct"))
        plain = stack.enter_context(Direct(library, root / "library")) if library else None
        server = stack.enter_context(served(system, root / "served"))
        client = stack.enter_context(Client(server.url))
        calls: dict[str, Callable[[AddRequest], Times]] = {
            "http": lambda add: Times(client.once("/add", body(add))[0]),
            "direct": memory.add,
            "ledger": memory.note,
        }
        if plain is not None:
            calls["library"] = plain.add
        in_turns(calls, chunks[:_WARM])
        empty = server.resident
        times = in_turns(calls, chunks[_WARM:])
        cpu = server.cpu
        load = client.streams("/add", [map(body, adds) for adds in dealt(more, IN_FLIGHT)])
        cpu = server.cpu - cpu
    return {
        **whole(times),
        "embedding": [each.embedding for each in times["direct"]],
        "messages": fmean(len(add.messages) for add in chunks[_WARM:]),
        "crowd": {"chunks": len(load.latencies), "seconds": load.seconds, "cpu": cpu},
        "empty": empty,
    }


def whole(times: Mapping[str, Sequence[Times]]) -> dict[str, list[float]]:
    """The seconds of each call."""
    return {name: [each.whole for each in some] for name, some in times.items()}
