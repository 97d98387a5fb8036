"""``transport/*``: HTTP as proxies and other clients speak it (clauses E6, F3).

Rules with ``transport="raw"`` write their own bytes to a socket. What the platform's own
client would never send is at most a warning.
"""

from __future__ import annotations

import json

from aml_contract.exchange import Exchange
from aml_contract.finding import NotTested
from aml_contract.outcome import Level
from aml_contract.rule import Cost, rule
from aml_contract.techniques.steps import planted
from aml_contract.trial import Trial, dump

GAP = 0.05
"""Seconds between the segments of a body that arrives in pieces."""
CONTINUE = 1.0
"""Seconds a client waits for 100 Continue before it sends the body anyway."""


@rule(
    "transport/no-redirect",
    level=Level.MUST,
    clauses=("E6",),
    title="POST to the exact Add and Search URLs is answered, not redirected.",
    why="Redirects are not followed: a missing slash in the registered URL ends the run.",
    fix="Serve the path exactly as registered, with or without the trailing slash.",
    cost=Cost(adds=1, searches=1),
    modes=(86,),
    peers=("P134",),
)
async def no_redirect(trial: Trial) -> None:
    """Any 3xx is a violation; the message names where it points."""
    user, marker = trial.ns.user(), trial.ns.marker()
    for made in (
        await trial.insist("add", trial.add_body(user, marker.text)),
        await trial.insist("search", trial.search_body(user, marker.query)),
    ):
        if made.status is None:
            raise NotTested(f"no answer ({made.summary})", made)
        trial.require(
            not 300 <= made.status < 400,
            f"{made.operation.capitalize()} was redirected ({made.status}) to "
            f"{made.reply_headers.get('location', 'nowhere')}",
            made,
        )


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
    cost=Cost(adds=1, searches=7),
    peers=("P127", "P131"),
    transport="raw",
)
async def after_refusal(trial: Trial) -> None:
    """A malformed Add, an invalid one, another path, each with a body; then a good Search."""
    user = trial.ns.user()
    marker = await planted(trial, user)
    search = dump(trial.search_body(user, marker.query))
    long = dump(trial.add_body(user, trial.ns.marker().text + " " + "padding " * 8_000))
    nowhere = trial.endpoint.search_url.partition("?")[0].rstrip("/") + "-" + trial.ns.word()
    tries: tuple[tuple[str, str, bytes], ...] = (
        ("malformed JSON", trial.endpoint.search_url, long[:-1]),
        ("an Add body sent to Search", trial.endpoint.search_url, long),
        ("a body sent to another path", nowhere, long),
    )
    for name, url, body in tries:
        async with trial.raw("search") as connection:
            bad = await connection.send("search", body, url=url)
            if bad.status is None or not 400 <= bad.status < 500 or not connection.reusable:
                continue
            good = await connection.send("search", search)
            trial.require(
                good.status == 200,
                f"after {name} was answered {bad.status}, a good Search on the same connection "
                f"was answered {good.summary}",
                bad,
                good,
            )


@rule(
    "transport/parallel",
    level=Level.MUST,
    clauses=("L1", "A12"),
    title="Two and four requests at once are each answered rightly.",
    why="The platform sends 16 at once; a handle shared by threads fails or mixes answers at two.",
    fix="Give every thread its own connection to the store; keep no request in a global.",
    cost=Cost(adds=7, searches=7),
    modes=(96,),
    peers=("P136", "P137"),
)
async def parallel(trial: Trial) -> None:
    """Users of their own; each Add's ids and each user's message must come back to it."""
    await planted(trial, trial.ns.user())
    for width in (2, 4):
        users = [(trial.ns.user(), trial.ns.marker()) for _ in range(width)]
        added = await trial.together(
            *(trial.insist("add", trial.add_body(user, m.text)) for user, m in users)
        )
        asked = await trial.together(
            *(trial.insist("search", trial.search_body(user, m.query)) for user, m in users)
        )
        for (user, marker), add, search in zip(users, added, asked, strict=True):
            for made in (add, search):
                answered(trial, made, width)
            echoed = _echo(add)
            trial.require(
                echoed in (None, user),
                f"with {width} Adds at once, one was answered with another's user_id",
                add,
            )
            trial.require(
                bool(trial.showing(trial.items(search), marker)),
                f"with {width} requests at once, a user's acknowledged message was not found",
                add,
                search,
            )


@rule(
    "transport/content-type",
    level=Level.SHOULD,
    clauses=("E1",),
    title="JSON is read whatever its content type's spelling.",
    why="Clients add charset=utf-8; a 415 is never retried.",
    fix="Compare the media type only, without parameters and case.",
    cost=Cost(adds=1, searches=4),
    peers=("P130",),
    transport="raw",
)
async def content_type(trial: Trial) -> None:
    """With a charset, in capitals; a missing content type may be refused (a warning)."""
    user = trial.ns.user()
    marker = await planted(trial, user)
    body = dump(trial.search_body(user, marker.query))
    for spelled in ("application/json; charset=utf-8", "Application/JSON;charset=UTF-8", None):
        async with trial.raw("search") as connection:
            headers = [h for h in connection.plain_headers(body) if h[0] != "Content-Type"]
            if spelled is not None:
                headers.append(("Content-Type", spelled))
            made = await connection.send("search", body, headers=headers)
        if made.status == 200:
            continue
        if spelled is None:
            trial.warn(f"a Search without a content type was answered {made.summary}", made)
        else:
            trial.fail(f"a Search with content type {spelled} was answered {made.summary}", made)


@rule(
    "transport/header-case",
    level=Level.SHOULD,
    clauses=("E1", "K1"),
    title="Header names are read in any case.",
    why="Proxies and HTTP/2 gateways send them in lower case.",
    fix="Look headers up case-insensitively.",
    cost=Cost(adds=1, searches=3),
    peers=("P130",),
    transport="raw",
)
async def header_case(trial: Trial) -> None:
    """All lower, all upper: the length, the type and the key."""
    user = trial.ns.user()
    marker = await planted(trial, user)
    body = dump(trial.search_body(user, marker.query))
    for name, spell in (("lower", str.lower), ("upper", str.upper)):
        async with trial.raw("search") as connection:
            headers = [(spell(key), value) for key, value in connection.plain_headers(body)]
            made = await connection.send("search", body, headers=headers)
        trial.require(
            made.status == 200,
            f"a Search with header names in {name} case was answered {made.summary}",
            made,
        )


@rule(
    "transport/split-body",
    level=Level.SHOULD,
    clauses=("A4",),
    title="A body that arrives in several segments is read to its end.",
    why="Networks cut bodies anywhere; a single read sees the first segment only.",
    fix="Read Content-Length bytes, however many reads it takes.",
    cost=Cost(adds=2, searches=2),
    peers=("P131",),
    transport="raw",
)
async def split_body(trial: Trial) -> None:
    """An Add in four segments, shortly one after the other."""
    user = trial.ns.user()
    await planted(trial, user)
    marker = trial.ns.marker()
    body = dump(trial.add_body(user, marker.text))
    async with trial.raw("add") as connection:
        made = await connection.send("add", body, pieces=4, gap=GAP)
    trial.require(
        made.status == 200,
        f"an Add whose body came in four segments was answered {made.summary}",
        made,
    )
    trial.require(
        bool(await trial.find(user, marker)),
        "an Add whose body came in four segments was acknowledged and is not found",
        made,
        await trial.last_exchange_of("search"),
    )


@rule(
    "transport/chunked",
    level=Level.MAY,
    clauses=("E1",),
    title="A chunked request body is read.",
    why="Streaming clients and some proxies send no Content-Length.",
    fix="Serve with an HTTP server that decodes Transfer-Encoding: chunked.",
    cost=Cost(adds=1, searches=2),
    peers=("P131",),
    transport="raw",
)
async def chunked(trial: Trial) -> None:
    """A Search in three chunks."""
    user = trial.ns.user()
    marker = await planted(trial, user)
    body = dump(trial.search_body(user, marker.query))
    async with trial.raw("search") as connection:
        headers = [h for h in connection.plain_headers(body) if h[0] != "Content-Length"]
        headers.append(("Transfer-Encoding", "chunked"))
        made = await connection.send("search", body, headers=headers, pieces=3)
    trial.require(
        made.status == 200, f"a Search with a chunked body was answered {made.summary}", made
    )


@rule(
    "transport/expect-continue",
    level=Level.MAY,
    clauses=("E1",),
    title="Expect: 100-continue is answered.",
    why="curl and Java clients ask before they send a large body.",
    fix="Serve with an HTTP server that sends 100 Continue, or ignores the header.",
    cost=Cost(adds=1, searches=2),
    peers=("P131",),
    transport="raw",
)
async def expect_continue(trial: Trial) -> None:
    """The body follows after a second even if no 100 came."""
    user = trial.ns.user()
    marker = await planted(trial, user)
    body = dump(trial.search_body(user, marker.query))
    async with trial.raw("search") as connection:
        headers = [*connection.plain_headers(body), ("Expect", "100-continue")]
        wait = CONTINUE * trial.run.patience
        made = await connection.send("search", body, headers=headers, await_continue=wait)
    trial.require(
        made.status == 200,
        f"a Search with Expect: 100-continue was answered {made.summary}",
        made,
    )


def answered(trial: Trial, made: Exchange, width: int) -> None:
    """A request of several at once got its 200; a server that asks for patience is excused.

    Raises:
        Violation: it failed again and again.
        NotTested: it was told to come later.
    """
    if made.status == 200:
        return
    if made.status in (408, 425, 429, 503):
        raise NotTested(f"{width} requests at once were put off ({made.summary})", made)
    trial.fail(
        f"with {width} requests at once, one {made.operation.capitalize()} was answered "
        f"{made.summary} again and again; alone, the same kind was answered 200",
        made,
    )


def same_server(trial: Trial) -> bool:
    """Whether Add and Search may share a connection."""
    add, search = trial.endpoint.add_url, trial.endpoint.search_url
    return add.split("/", 3)[:3] == search.split("/", 3)[:3]


def _echo(exchange: Exchange) -> object:
    """The ``user_id`` of an Add answer, or ``None`` where it cannot be read."""
    try:
        return json.loads(exchange.reply).get("user_id")
    except (ValueError, AttributeError, RecursionError):
        return None
