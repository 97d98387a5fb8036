"""What the endpoint does at the load it declared, and a little beyond (clauses L1, F1, F3).

These rules run alone, so that the load is the one they speak of.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from aml_contract.endpoint.retry import LONGEST_WAIT
from aml_contract.exchange import Exchange
from aml_contract.finding import NotTested
from aml_contract.namespace import Marker
from aml_contract.outcome import Level
from aml_contract.rule import Cost, rule
from aml_contract.techniques.copies import Control, replayed
from aml_contract.techniques.steps import planted
from aml_contract.techniques.twins import Stored, no_leaks, show
from aml_contract.techniques.under_load import (
    calmly,
    each_found,
    found_in_the_end,
    own_ids,
    said_later,
    say_what_was_not_accepted,
    served,
)
from aml_contract.trial import Trial

_BURST = 64
"""Connections opened at the same moment; a listen backlog of 5 is what this is about."""
_ADDS, _SEARCHES = 64, 96
"""Sent at the declared load; more where more is declared."""
_MOST_SEARCHES = 256
"""The highest Search concurrency that can be declared (clause L1)."""
_WRITERS = 32
_FAILED = frozenset({500, 502})
"""Server errors that do not say "later"."""


@rule(
    "load/burst",
    level=Level.MUST,
    clauses=("A12", "F1", "F3"),
    title="Of 64 Adds over 64 new connections at once, each is stored or told to come later.",
    why="Workers start together. Connections that are not accepted are sent again; an Add "
    "that was acknowledged and lost, or refused for good, is not.",
    fix="Raise the listen backlog (128 or more), answer what is too much with 429 or 503 and "
    "Retry-After, and acknowledge only what is stored.",
    cost=Cost(adds=_BURST + 1, searches=_BURST + 1),
    modes=(92, 25),
    peers=("P136", "P139"),
    exclusive=True,
    quick=False,
)
async def burst(t: Trial) -> None:
    """One Add each, at once, beyond the declared load; then calmly what was not accepted."""
    await planted(t, t.ns.user())
    topic = t.ns.topic(_BURST)
    users = [t.ns.user() for _ in topic.markers]
    bodies = [t.add_body(u, m.text) for u, m in zip(users, topic.markers, strict=True)]
    async with t.endpoint.lanes(adds=_BURST, searches=t.endpoint.search_concurrency):
        made = list(await t.together(*(t.send_add(body, fresh=True) for body in bodies)))
    say_what_was_not_accepted(t, made)
    for place, exchange in enumerate(made):
        if exchange.status != 200:
            made[place] = await calmly(t, exchange, bodies[place], f"{_BURST} Adds at once")
    stored = [Stored(*one) for one in zip(users, topic.markers, made, strict=True)]
    await each_found(t, stored, f"in a burst of {_BURST} connections")


@rule(
    "load/declared",
    level=Level.MUST,
    clauses=("L1", "A12", "L2", "F3"),
    title="At the declared concurrency of Adds and of Searches together, all answers are right.",
    why="The platform keeps both at once, 16 and 16 at the least; what breaks there breaks "
    "all day long.",
    fix="Pool connections to the store, take blocking work off the event loop, and answer 429 "
    "with Retry-After before things get slow; never 4xx, never an empty list.",
    cost=Cost(adds=_ADDS + 8, searches=_MOST_SEARCHES + _ADDS + 8),
    modes=(92, 95, 96),
    peers=("P86", "P136", "P137", "P138"),
    cases=("B33",),
    exclusive=True,
    quick=False,
)
async def declared(t: Trial) -> None:
    """Writers and readers, as many of each as declared, until all has been sent."""
    adds = min(t.endpoint.add_concurrency, _ADDS)
    searches = min(t.endpoint.search_concurrency, _MOST_SEARCHES)
    busy = f"{adds} Adds and {searches} Searches in flight"
    topic = t.ns.topic(8 + _ADDS)
    stored = await t.together(*(_ordinary(t, marker) for marker in topic.markers[:8]))
    if not all(await t.together(*(t.find(one.user, one.marker) for one in stored))):
        raise NotTested("an ordinary message is not found (see visibility/*)")
    readers = [stored[n % 8] for n in range(max(searches, _SEARCHES))]
    writers = [(t.ns.user(), marker) for marker in topic.markers[8:]]
    written: list[Stored] = []
    refused: list[tuple[Exchange, Mapping[str, Any]]] = []

    async def write(user: str, marker: Marker) -> None:
        body = t.add_body(user, marker.text)
        made = await served(t, "add", body, busy)
        if made.status != 200:
            refused.append((made, body))
            return
        own_ids(t, body, made, busy)
        written.append(Stored(user, marker, made))

    async def read(one: Stored) -> None:
        body = t.search_body(one.user, topic.query)
        made = await served(t, "search", body, busy)
        if made.status != 200:
            refused.append((made, body))
            return
        no_leaks(t, one.user, made, [*stored, *written])
        t.require(
            bool(t.showing(t.items(made), one.marker)),
            f"with {busy}, user {show(one.user)} does not find what it found before",
            one.added,
            made,
        )

    async with t.endpoint.lanes(adds=adds, searches=searches):
        work = [write(*one) for one in writers] + [read(one) for one in readers]
        await t.together(*work)
    for made, body in refused[:1]:
        await calmly(t, made, body, busy)
    t.note(f"{len(writers)} Adds and {len(readers)} Searches with {busy}{said_later(t)}")
    await each_found(t, written, f"with {busy}")


@rule(
    "load/one-user",
    level=Level.MUST,
    clauses=("A12", "R1", "L1"),
    title="Adds of one user that arrive together are all stored, and each of them once.",
    why="Serial Adds of a user are the rule, not a promise: retries overlap, and read, change, "
    "write back loses all but the last.",
    fix="Append instead of rewriting a user's state, or hold a lock per user around it.",
    cost=Cost(adds=26, searches=28),
    modes=(36, 97),
    peers=("P135", "P140"),
    exclusive=True,
)
async def one_user(t: Trial) -> None:
    """Sixteen Adds of one user at once, every second of them twice at the same time."""
    user, count = t.ns.user(), 8 if t.run.quick else 16
    await planted(t, user)
    control = await Control.add(t)
    markers = [t.ns.marker() for _ in range(count)]
    bodies = [t.add_body(user, marker.text) for marker in markers]

    async def write(place: int) -> list[Exchange]:
        times = 2 if place % 2 else 1  # side by side, so that both are in flight
        return await t.together(
            *(replayed(t, bodies[place], "one of several Adds at once") for _ in range(times))
        )

    async with t.endpoint.lanes(
        adds=min(t.endpoint.add_concurrency, _ADDS), searches=t.endpoint.search_concurrency
    ):
        made = await t.together(*map(write, range(count)))
    stored = [Stored(user, marker, e[0]) for marker, e in zip(markers, made, strict=True)]
    await t.together(
        *(found_in_the_end(t, one, "beside others of the same user") for one in stored)
    )
    await t.together(
        *(control.none_more(t, user, markers[n], None, *made[n]) for n in range(1, count, 2))
    )


@rule(
    "load/parallel-writers",
    level=Level.SHOULD,
    clauses=("L1", "F3"),
    title="Thirty-two users who write at the declared concurrency meet no server error.",
    why='"database is locked" and exhausted pools come with the second writer; each costs a '
    "retry and its back-off, up to 32 times.",
    fix="Serialise writers or give SQLite WAL and a busy timeout; size pools for the declared "
    "concurrency; say 429 or 503 with Retry-After when it is too much.",
    cost=Cost(adds=2 * _WRITERS + 16 + 1, searches=_WRITERS + 1),
    modes=(97, 96),
    peers=("P136", "P140"),
    cases=("B33",),
    exclusive=True,
    quick=False,
)
async def parallel_writers(t: Trial) -> None:
    """Two Adds by each user, serially, as the platform does; some are sent once more."""
    await planted(t, t.ns.user())
    topic = t.ns.topic(2 * _WRITERS)
    stored: list[Stored] = []

    async def write(number: int, user: str, markers: Sequence[Marker]) -> None:
        for marker in markers:
            body = t.add_body(user, marker.text)
            made = await t.insist("add", body)
            if made.status != 200:
                raise t.refused(made)
            stored.append(Stored(user, marker, made))
        if number % 2:
            await t.insist("add", body)

    lots = [topic.markers[2 * n : 2 * n + 2] for n in range(_WRITERS)]
    adds = min(t.endpoint.add_concurrency, _WRITERS)
    async with t.endpoint.lanes(adds=adds, searches=t.endpoint.search_concurrency):
        await t.together(*(write(n, t.ns.user(), lot) for n, lot in enumerate(lots)))
    failed = [e for e in t.exchanges if e.operation == "add" and e.status in _FAILED]
    if later := said_later(t):
        t.note(later.removeprefix(", "))
    t.require(
        not failed,
        f"{len(failed)} of {len(t.exchanges)} Adds were answered "
        f"{' and '.join(str(s) for s in sorted({e.status or 0 for e in failed}))} with no more "
        f"than {adds} in flight, and worked when sent again",
        *failed[:1],
    )
    await each_found(t, stored, f"while {_WRITERS} users wrote")


@rule(
    "load/retry-after",
    level=Level.MAY,
    clauses=("F1",),
    title="Every 429 carries Retry-After, a whole number of seconds from 1 to 60.",
    why="Without it the platform waits 60 s; above 60 it does not believe it; a date it may "
    "not read.",
    fix="Send Retry-After: 1 (or your best guess in seconds, at most 60) with each 429.",
    cost=Cost(searches=_BURST),
    modes=(93,),
    last=True,
)
async def retry_after(t: Trial) -> None:
    """Judges every 429 of the run; if there was none, 64 Searches at once ask for one."""
    seen = [made for made in t.run.exchanges if made.status == 429]
    if not seen and len(t.run.exchanges) >= _BURST:
        t.note("no request of the run was answered 429")
        return
    if not seen:
        body = t.search_body(t.ns.user(), t.ns.marker().query)
        async with t.endpoint.lanes(adds=1, searches=_BURST):
            made = await t.together(*(t.send_search(body) for _ in range(_BURST)))
        seen = [one for one in made if one.status == 429]
    wrong = [made for made in seen if not _good_wait(made.reply_headers.get("retry-after"))]
    if wrong:
        given = wrong[0].reply_headers.get("retry-after")
        t.fail(
            f"{len(wrong)} of {len(seen)} answers 429 came "
            + ("without Retry-After" if given is None else f"with Retry-After: {given}"),
            wrong[0],
        )


def _good_wait(given: str | None) -> bool:
    number = given or ""
    return number.isascii() and number.isdigit() and 1 <= int(number) <= LONGEST_WAIT


async def _ordinary(t: Trial, marker: Marker) -> Stored:
    user = t.ns.user()
    return Stored(user, marker, await t.add(user, marker.text))
