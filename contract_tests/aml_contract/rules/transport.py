"""``transport/*``: HTTP as proxies and other clients speak it (clauses E6, F3).

Rules with ``transport="raw"`` write their own bytes to a socket. What the platform's own
client would never send is at most a warning. Bodies are in :mod:`transport_bodies`,
connections in :mod:`transport_connections`.
"""

from __future__ import annotations

import json

from aml_contract.body import dump
from aml_contract.exchange import Exchange
from aml_contract.finding import NotTested
from aml_contract.outcome import Level
from aml_contract.rule import Cost, rule
from aml_contract.techniques.steps import planted
from aml_contract.trial import Trial


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
    "transport/parallel",
    level=Level.MUST,
    clauses=("L1", "A12"),
    title="Two and four requests at once are each answered rightly.",
    why="The platform sends 16 at once; a handle shared by threads fails or mixes answers at two.",
    fix="Give every thread its own connection to the store; keep no request in a global.",
    cost=Cost(adds=7, searches=7),
    modes=(96,),
    peers=("P136", "P137"),
    quick=False,
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


def _echo(exchange: Exchange) -> object:
    """The ``user_id`` of an Add answer, or ``None`` where it cannot be read."""
    try:
        return json.loads(exchange.reply).get("user_id")
    except (ValueError, AttributeError, RecursionError):
        return None
