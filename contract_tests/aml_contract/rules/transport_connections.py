"""Connections that are kept open, and an older HTTP (clauses E1, F3)."""

from __future__ import annotations

from aml_contract.body import dump
from aml_contract.endpoint.raw import Headers, RawConnection
from aml_contract.exchange import Exchange
from aml_contract.finding import NotTested
from aml_contract.outcome import Level
from aml_contract.rule import Capability, Cost, rule
from aml_contract.techniques.keys import invented, under_scheme
from aml_contract.techniques.steps import planted
from aml_contract.trial import Trial

LARGE = 16 * 2**20
"""Bytes of a body above the default limits of servers and proxies, most of them 1 to 8 MiB."""


@rule(
    "transport/keep-alive",
    level=Level.SHOULD,
    clauses=("F3",),
    title="A connection that is kept open answers the next request too.",
    why="Clients keep connections; a server that forgets one looks like a network error.",
    fix="Read every body to its end, frame every answer, and say Connection: close if you close.",
    cost=Cost(adds=2, searches=3),
    peers=("P131",),
    transport="raw",
)
async def keep_alive(trial: Trial) -> None:
    """Search, Add and Search on one connection; closing it is fine where it was announced."""
    user = trial.ns.user()
    marker = await planted(trial, user)
    search = dump(trial.search_body(user, marker.query))
    add = dump(trial.add_body(user, trial.ns.marker().text))
    async with trial.raw("search") as connection:
        first = await connection.send("search", search)
        if first.status != 200:
            raise NotTested(f"a Search on a raw connection was answered {first.summary}", first)
        before = first
        for operation, body, url in (
            ("add", add, trial.endpoint.add_url),
            ("search", search, trial.endpoint.search_url),
        ):
            if not connection.reusable or not same_server(trial):
                trial.note("the server announces that it closes connections")
                return
            made = await connection.send("add" if operation == "add" else "search", body, url=url)
            trial.require(
                made.status == 200,
                f"on a connection that was kept open, the next {operation} was answered "
                f"{made.summary}",
                before,
                made,
            )
            before = made


@rule(
    "transport/after-refusal",
    level=Level.SHOULD,
    clauses=("F3",),
    title="After a refusal the connection goes on, or is closed as announced.",
    why="A body left unread is taken for the next request; a good request then fails.",
    fix="Read the body before refusing, or answer with Connection: close.",
    cost=Cost(adds=1, searches=9),
    peers=("P127", "P131"),
    transport="raw",
)
async def after_refusal(trial: Trial) -> None:
    """Malformed, invalid, on another path, with a wrong key; then a good Search each time."""
    user = trial.ns.user()
    marker = await planted(trial, user)
    search = dump(trial.search_body(user, marker.query))
    long = dump(trial.add_body(user, trial.ns.marker().text + " " + "padding " * 8_000))
    nowhere = trial.endpoint.search_url.partition("?")[0].rstrip("/") + "-" + trial.ns.word()
    tries: list[tuple[str, str, bytes, Headers | None]] = [
        ("malformed JSON", trial.endpoint.search_url, long[:-1], None),
        ("an Add body sent to Search", trial.endpoint.search_url, long, None),
        ("a body sent to another path", nowhere, long, None),
    ]
    if Capability.AUTH in trial.run.capabilities:
        wrong = _with_a_wrong_key(trial, long)
        tries.append(("a wrong key", trial.endpoint.search_url, long, wrong))
    for name, url, body, headers in tries:
        async with trial.raw("search") as connection:
            bad = await connection.send("search", body, url=url, headers=headers)
            await _goes_on(trial, connection, name, bad, search)


@rule(
    "transport/after-too-large",
    level=Level.SHOULD,
    clauses=("F3",),
    title="After a body that is too large the connection goes on, or is closed as announced.",
    why="A server that refuses at the first bytes and reads on takes the rest of the body for "
    "the next request.",
    fix="Answer 413 with Connection: close, or read the body to its end first.",
    cost=Cost(adds=1, searches=3),
    peers=("P131", "P133"),
    transport="raw",
    quick=False,
)
async def after_too_large(trial: Trial) -> None:
    """16 MiB that are no JSON in the end; a hang-up before the end is a refusal too."""
    user = trial.ns.user()
    marker = await planted(trial, user)
    search = dump(trial.search_body(user, marker.query))
    body = search[:-1] + b" " * LARGE
    async with trial.raw("search") as connection:
        bad = await connection.send("search", body, pieces=64)
        await _goes_on(trial, connection, f"a body of {LARGE // 2**20} MiB", bad, search)


@rule(
    "transport/http-1.0",
    level=Level.MAY,
    clauses=("E1",),
    title="HTTP/1.0 is answered.",
    why="Proxies of an older make, nginx with its defaults among them, speak it to what is "
    "behind them.",
    fix="Serve with an HTTP server that takes 1.0, and frame answers by Content-Length.",
    cost=Cost(adds=1, searches=2),
    peers=("P131",),
    transport="raw",
)
async def http_1_0(trial: Trial) -> None:
    """A Search with HTTP/1.0 in its request line."""
    user = trial.ns.user()
    marker = await planted(trial, user)
    body = dump(trial.search_body(user, marker.query))
    async with trial.raw("search") as connection:
        made = await connection.send("search", body, version="1.0")
    trial.require(made.status == 200, f"a Search over HTTP/1.0 was answered {made.summary}", made)


async def _goes_on(
    trial: Trial, connection: RawConnection, name: str, bad: Exchange, search: bytes
) -> None:
    """A good Search on the connection of a refusal is answered, unless it was to be closed.

    Raises:
        Violation: it is not.
    """
    if bad.status is None or not 400 <= bad.status < 500 or not connection.reusable:
        return
    good = await connection.send("search", search)
    trial.require(
        good.status == 200,
        f"after {name} was answered {bad.status}, a good Search on the same connection "
        f"was answered {good.summary}",
        bad,
        good,
    )


def _with_a_wrong_key(trial: Trial, body: bytes) -> Headers:
    """What an ordinary client sends, but for the key."""
    plain = (("Content-Type", "application/json"), ("Content-Length", str(len(body))))
    return [*plain, *under_scheme(trial, invented(trial)).items()]


def same_server(trial: Trial) -> bool:
    """Whether Add and Search may share a connection."""
    add, search = trial.endpoint.add_url, trial.endpoint.search_url
    return add.split("/", 3)[:3] == search.split("/", 3)[:3]
