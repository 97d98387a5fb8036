"""Nobody sees what another user stored (clauses A2, L2, R2): ordinary ids.

Unusual ids are in :mod:`isolation_twins` and :mod:`isolation_injection`.
"""

from __future__ import annotations

from collections.abc import Sequence

from aml_contract.exchange import Exchange
from aml_contract.namespace import Marker
from aml_contract.outcome import Level
from aml_contract.rule import Cost, rule
from aml_contract.techniques.copies import Control, copies, copies_found
from aml_contract.techniques.steps import planted
from aml_contract.techniques.twins import Stored, blames_the_id, keep_apart, no_leaks, show
from aml_contract.trial import Trial

LATER = 3.0
"""Seconds after which background work is taken to have run."""


@rule(
    "isolation/two-users",
    level=Level.MUST,
    clauses=("L2", "A2"),
    title="Two users who talk about the same thing each see their own memories only.",
    why="A leak between users disqualifies the entry and falsifies every later answer.",
    fix="Filter by user_id in every query, before ranking, also in what runs in the background.",
    cost=Cost(adds=4, searches=6),
    modes=(74, 79),
    peers=("P84", "P85"),
    cases=("B03", "B08"),
    waits=True,
)
async def two_users(t: Trial) -> None:
    """Two messages each, then every user and a stranger, at once and after a pause."""
    users = [t.ns.user(), t.ns.user()]
    topic = t.ns.topic(4)
    stored = [
        Stored(user, marker, await t.add(user, marker.text))
        for user, marker in zip([*users, *users], topic.markers, strict=True)
    ]
    stranger = t.ns.user()
    for pause in (0.0, LATER):
        await t.pause(pause)
        for user in (*users, stranger):
            await _own_only(t, user, topic.query, stored)


@rule(
    "isolation/request-id-shared",
    level=Level.MUST,
    clauses=("R2", "L2"),
    title="The same request_id under two users is two requests.",
    why="A key without the user swallows the second user's write, or overwrites the first's.",
    fix="Key repeats, rows and upserts by (user_id, request_id).",
    cost=Cost(adds=3, searches=3),
    modes=(40,),
    peers=("P46", "P94"),
    cases=("B06",),
)
async def request_id_shared(t: Trial) -> None:
    """Three users send different texts under one request_id."""
    users, request = [t.ns.user() for _ in range(3)], t.ns.request()
    topic = t.ns.topic(3)
    stored: list[Stored] = []
    for user, marker in zip(users, topic.markers, strict=True):
        exchange = await t.insist("add", t.add_body(user, marker.text, request=request))
        if exchange.status != 200 and (not stored or not blames_the_id(exchange)):
            raise t.refused(exchange)
        t.require(
            exchange.status == 200,
            f"a request_id that another user had used before was answered {exchange.summary}",
            exchange,
        )
        stored.append(Stored(user, marker, exchange))
    for one in stored:
        await _own_only(
            t, one.user, topic.query, stored, lost="stored under a request_id that others use"
        )


@rule(
    "isolation/joined-ids",
    level=Level.MUST,
    clauses=("R2", "L2", "A1", "A2"),
    title="Users and requests whose ids only look alike when joined are kept apart.",
    why="A key such as user + ':' + request is the same for two pairs; one write is swallowed.",
    fix="Key by the pair itself: two columns, a tuple, or a digest of a JSON list.",
    cost=Cost(adds=12, searches=12),
    modes=(40, 20),
    peers=("P89", "P91"),
    quick=False,
)
async def joined_ids(t: Trial) -> None:
    """For each of six joints, two users and requests that read the same when joined."""

    async def pair(joint: str) -> None:
        stem, topic = t.ns.user(), t.ns.topic(2)
        users = (f"{stem}{joint}a", stem)
        requests = ("b", f"a{joint}b")
        if not joint:
            users, requests = (f"{stem}a", stem), ("b", "ab")
        stored: list[Stored] = []
        for user, request, marker in zip(users, requests, topic.markers, strict=True):
            exchange = await t.insist("add", t.add_body(user, marker.text, request=request))
            if exchange.status != 200 and (not stored or not blames_the_id(exchange)):
                raise t.refused(exchange)
            t.require(
                exchange.status == 200,
                f"user {show(user)} with request_id {show(request)} was answered "
                f"{exchange.summary}; user {show(users[0])} had used {show(requests[0])}",
                exchange,
            )
            stored.append(Stored(user, marker, exchange))
        for one in stored:
            await _own_only(
                t, one.user, topic.query, stored, lost="whose joined ids equal another user's"
            )

    await t.together(*map(pair, ("", ":", "/", "|", "-", "_")))


@rule(
    "isolation/caches",
    level=Level.MUST,
    clauses=("L2",),
    title="Two users who ask the same question in turn get their own answers.",
    why="A cache or an entity index keyed without the user hands one user's answer to the next.",
    fix="Put user_id into every cache key and every index.",
    cost=Cost(adds=3, searches=9),
    modes=(77,),
    cases=("B03",),
    quick=False,
)
async def caches(t: Trial) -> None:
    """The same question by A, B, A, B; also before anything is stored, and after more is."""
    users, topic = [t.ns.user(), t.ns.user()], t.ns.topic(3)
    await t.search(users[1], topic.query)
    stored: list[Stored] = []
    for user, marker in zip([*users, users[0]], topic.markers, strict=True):
        stored.append(Stored(user, marker, await t.add(user, marker.text)))
        if len(stored) > 1:
            for asking in (*users, *users):
                await _own_only(t, asking, topic.query, stored, lost="asked for in turn")


@rule(
    "isolation/identical-text",
    level=Level.MUST,
    clauses=("L2", "S6"),
    title="The same text stored by two users is two memories.",
    why="A row shared by content is inherited by whoever stores the text, or stays with the first.",
    fix="Make user_id part of what identifies a memory; never deduplicate across users.",
    cost=Cost(adds=4, searches=7),
    modes=(81,),
    quick=False,
)
async def identical_text(t: Trial) -> None:
    """A and B store one text, A stores more; what each finds is counted in between."""
    first, second, stranger = t.ns.user(), t.ns.user(), t.ns.user()
    shared, more = t.ns.marker(), t.ns.marker()
    control = await Control.add(t)
    first_add = await t.add(first, shared.text)
    alone = await copies_found(t, first, shared)
    second_add = await t.add(second, shared.text)
    exchange = await t.search_exchange(second, shared.query)
    t.require(
        bool(t.showing(t.items(exchange), shared)),
        "the second user to store a text does not find it",
        first_add,
        second_add,
        exchange,
    )
    exchange = await t.search_exchange(first, shared.query)
    mine = copies(t, t.items(exchange), shared)
    t.require(mine > 0, "the first user to store a text no longer finds it", second_add, exchange)
    t.require(
        mine <= alone or mine <= alone + await control.growth(t),
        f"the first user found the text {alone} times, and {mine} times once another "
        "user had stored it too",
        second_add,
        exchange,
    )
    more_add = await t.add(first, more.text)
    for user in (second, stranger):
        exchange = await t.search_exchange(user, f"{shared.query} {more.query}")
        no_leaks(t, user, exchange, [Stored(first, more, more_add)])
    t.require(
        not t.showing(t.items(exchange), shared),
        "a user who stored nothing finds a text that two others stored",
        second_add,
        exchange,
    )


@rule(
    "isolation/run-names",
    level=Level.MUST,
    clauses=("L2", "A2"),
    title="The same conversation name in two runs or tasks is two users.",
    why="Several runs use conv-0; a key taken from its tail mixes teams, tasks and runs.",
    fix="Use the whole user_id as the key; never cut it at a colon.",
    cost=Cost(adds=4, searches=4),
    modes=(82,),
    peers=("P95",),
)
async def run_names(t: Trial) -> None:
    """One conversation name under two runs and two tasks, and two names under one."""
    run = t.ns.user("run")
    await keep_apart(
        t,
        [
            f"{run}A:locomo_refined:conv-0",
            f"{run}B:locomo_refined:conv-0",
            f"{run}A:longmemeval:conv-0",
            f"{run}A:locomo_refined:conv-1",
        ],
    )


@rule(
    "isolation/few-memories",
    level=Level.MUST,
    clauses=("L2", "S10"),
    title="A user with few memories gets few items, however large top_k is.",
    why="An index that fills the answer up to top_k, or cuts before it filters, brings strangers'.",
    fix="Filter by user before the nearest-neighbour cut, and never fill up.",
    cost=Cost(adds=9, searches=2),
    modes=(78,),
    cases=("B07",),
    quick=False,
)
async def few_memories(t: Trial) -> None:
    """One memory among forty of eight others on the same topic, top_k 100."""
    user, others = t.ns.user(), [t.ns.user("crowd") for _ in range(8)]
    topic = t.ns.topic(41)
    own = Stored(user, topic.markers[0], await t.add(user, topic.markers[0].text))

    async def crowd(other: str, markers: Sequence[Marker]) -> list[Stored]:
        exchange = await t.add(other, *(marker.text for marker in markers))
        return [Stored(other, marker, exchange) for marker in markers]

    lots = [topic.markers[1 + 5 * i : 6 + 5 * i] for i in range(8)]
    crowds = await t.together(*map(crowd, others, lots))
    stored = [own, *(one for lot in crowds for one in lot)]
    await _own_only(t, user, topic.query, stored, lost="hidden by memories of others")
    no_leaks(t, user, await t.search_exchange(user, own.marker.text), stored)


@rule(
    "isolation/parallel-users",
    level=Level.MUST,
    clauses=("L2", "L1"),
    title="Users served at the same moment do not see each other.",
    why='The platform runs 16 users at once; a process-wide "current user" mixes them up.',
    fix="Pass the user along with each call; keep no state of a request in globals.",
    cost=Cost(adds=32, searches=32),
    modes=(80,),
    peers=("P86", "P136", "P137"),
    quick=False,
)
async def parallel_users(t: Trial) -> None:
    """Sixteen users add and ask at once, twice."""
    users = [t.ns.user() for _ in range(16)]
    topic = t.ns.topic(32)
    stored: list[Stored] = []

    async def add(user: str, marker: Marker) -> None:
        stored.append(Stored(user, marker, await t.add(user, marker.text)))

    async def ask(user: str) -> tuple[str, Exchange]:
        return user, await t.search_exchange(user, topic.query)

    for markers in (topic.markers[:16], topic.markers[16:]):
        await t.together(*map(add, users, markers))
        answers = await t.together(*map(ask, users))
        for user, exchange in answers:
            no_leaks(t, user, exchange, stored)
        for user, exchange in answers:
            own = [one.marker for one in stored if one.user == user]
            if not all(t.showing(t.items(exchange), marker) for marker in own):
                await _own_only(t, user, topic.query, stored, lost="stored beside 15 others'")


async def _own_only(
    t: Trial,
    user: str,
    query: str,
    stored: Sequence[Stored],
    *,
    lost: str = "stored with 200",
) -> None:
    """The user sees all of its own and nothing of others; a second look forgives lateness."""
    for last in (False, True):
        exchange = await t.search_exchange(user, query)
        no_leaks(t, user, exchange, stored)
        items = t.items(exchange)
        own = [one for one in stored if one.user == user]
        missing = next((one for one in own if not t.showing(items, one.marker)), None)
        if missing is None:
            return
        if last:
            await planted(t, t.ns.user())
            t.fail(
                f"user {show(user)} does not find its own memory, {lost}", missing.added, exchange
            )
        await t.pause(LATER)
