"""What a Search costs among many messages of its user."""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Callable, Iterable
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import islice, repeat
from pathlib import Path
from typing import Any

from aml_contract.smoke.run import TOP_K
from aml_sdk import SearchRequest
from benchmarks.measuring.adding import whole
from benchmarks.measuring.bare import SOMEBODY
from benchmarks.measuring.client import Client, Until
from benchmarks.measuring.direct import Direct, Times
from benchmarks.measuring.filling import Stores
from benchmarks.measuring.serving import Served, running_bare, served, size
from benchmarks.measuring.talk import USER, asked, body
from benchmarks.measuring.turns import in_turns

IN_FLIGHT = (1, 16)
_WARM = Until(most=20)
"""Searches before any is timed but the first."""


@dataclass(frozen=True)
class Effort:
    """How many Searches are timed for one figure."""

    until: Until
    """Those that are in flight alone, and those in a crowd."""
    pairs: int
    """Those that are sent in turns to the server and to the memory."""


def searching(
    system: str,
    messages: int,
    library: str | None,
    stores: Stores,
    effort: Effort,
) -> dict[str, Any]:
    """Times of Searches for the hundred best memories, of questions that differ.

    Args:
        system: a memory as ``aml serve`` names it.
        messages: among how many is asked.
        library: what is behind it, likewise; ``None`` if that is not asked.
        stores: its data; copies are used, for two processes cannot share one.
        effort: how much is measured.

    Returns:
        Seconds: ``first`` after the start, ``1`` and ``16`` of Searches with so many in flight,
        each with the ``seconds`` of all and ``cpu`` seconds of the server; in turns ``http``,
        ``direct``, of which ``embedding``, and perhaps ``library``. ``items`` and ``bytes`` of
        the first answer; ``resident`` memory of the server in the end, and ``disk``, in MB.
    """
    questions = asked(stores.talk, USER)
    store = stores.path(system, messages)
    with ExitStack() as stack:
        root = Path(stack.enter_context(tempfile.TemporaryDirectory(dir=stores.directory)))
        for copy in ("served", "direct"):
            shutil.copytree(store, root / copy)
        memory = stack.enter_context(Direct(system, root / "direct"))
        plain = None
        if library is not None:
            shutil.copytree(stores.path(library, messages), root / "library")
            plain = stack.enter_context(Direct(library, root / "library"))
        server = stack.enter_context(served(system, root / "served"))
        client = stack.enter_context(Client(server.url))
        first, answer = client.once("/search", body(next(questions)))
        found = json.loads(answer)["data"]
        if not found:
            raise RuntimeError(f"{system} finds nothing in {store}")
        for in_flight in IN_FLIGHT:
            client.load("/search", map(body, questions), in_flight, _WARM)
        loads = {
            str(in_flight): _loaded(server, client, map(body, questions), in_flight, effort.until)
            for in_flight in IN_FLIGHT
        }
        calls: dict[str, Callable[[SearchRequest], Times]] = {
            "http": lambda request: Times(client.once("/search", body(request))[0]),
            "direct": memory.search,
        }
        if plain is not None:
            calls["library"] = plain.search
        in_turns(calls, islice(questions, 3))
        times = in_turns(calls, islice(questions, effort.pairs))
        resident = server.resident
    return {
        "first": first,
        **loads,
        **whole(times),
        "embedding": [each.embedding for each in times["direct"]],
        "items": len(found),
        "bytes": len(answer),
        "resident": resident,
        "disk": size(store),
    }


def floor(work: Path, effort: Effort) -> dict[str, Any]:
    """What the client takes for answers of a hundred memories from a server that does not search.

    The figures are those of :func:`searching` with so many in flight.
    """
    request = body(SearchRequest(query="Where does Caroline live?", user_id=SOMEBODY, top_k=TOP_K))
    with running_bare("bare", work / "bare.log") as server, Client(server.url) as client:
        client.load("/search", repeat(request), max(IN_FLIGHT), _WARM)
        return {
            str(in_flight): _loaded(server, client, repeat(request), in_flight, effort.until)
            for in_flight in IN_FLIGHT
        }


def _loaded(
    server: Served, client: Client, bodies: Iterable[bytes], in_flight: int, until: Until
) -> dict[str, Any]:
    cpu = server.cpu
    load = client.load("/search", bodies, in_flight, until)
    return {"latencies": load.latencies, "seconds": load.seconds, "cpu": server.cpu - cpu}
