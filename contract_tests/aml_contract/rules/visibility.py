"""What was acknowledged is there, at once and for good (clauses A12, S4, S13, R6)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from aml_contract.exchange import Exchange
from aml_contract.namespace import Marker
from aml_contract.outcome import Level
from aml_contract.rule import Cost, rule
from aml_contract.techniques.steps import planted
from aml_contract.trial import Trial

LATER = 3.0
"""Seconds after which a second look tells late from lost."""
DAY = 86_400_000
"""Milliseconds."""


@rule(
    "visibility/immediate",
    level=Level.MUST,
    clauses=("A12",),
    title="A message is found by the Search sent right after its Add was answered.",
    why="The platform asks at once; what is still in a queue then counts as forgotten.",
    fix="Answer 200 only after the message is stored and indexed: await the work, no "
    "background task, and ask the index for its strong or refresh-before-return mode.",
    cost=Cost(adds=16, searches=16),
    modes=(25, 66),
    peers=("P32", "P149"),
    cases=("B09",),
)
async def immediate(t: Trial) -> None:
    """Users side by side, each adding and asking in turn, with no pause."""

    async def rounds(user: str, markers: Sequence[Marker]) -> None:
        for marker in markers:  # of one user serially, as the platform does
            added = await t.add(user, marker.text)
            await _found(t, user, marker, added)

    users = 2 if t.run.quick else 8
    await t.together(*(rounds(t.ns.user(), (t.ns.marker(), t.ns.marker())) for _ in range(users)))


@rule(
    "visibility/every-message",
    level=Level.MUST,
    clauses=("A12", "A4"),
    title="Every message of a chunk of 20 is found, the first and the last too.",
    why="Success promises the whole chunk; a turn lost from it is an answer lost.",
    fix="Index each message by itself; where a model extracts facts, keep the raw message too.",
    cost=Cost(adds=1, searches=20),
    modes=(19, 25),
    cases=("B13",),
)
async def every_message(t: Trial) -> None:
    """Twenty messages that share no topic, each asked for by its own words."""
    user, markers = t.ns.user(), [t.ns.marker() for _ in range(20)]
    added = await t.add(user, *(marker.text for marker in markers))
    places = (0, 7, 19) if t.run.quick else tuple(range(20))

    async def look(place: int) -> tuple[int, Exchange] | None:
        exchange = await t.search_exchange(user, markers[place].query)
        return None if t.showing(t.items(exchange), markers[place]) else (place, exchange)

    lost = [found for found in await t.together(*map(look, places)) if found]
    if lost:
        await planted(t, t.ns.user())
        numbers = ", ".join(str(place + 1) for place, _ in lost)
        t.fail(
            f"{len(lost)} of {len(places)} messages of one chunk are not found: number {numbers}",
            added,
            lost[0][1],
        )


@rule(
    "visibility/cjk",
    level=Level.SHOULD,
    clauses=("A12", "A10"),
    title="Chinese, Japanese and Korean messages are found by words copied from them.",
    why="Benchmarks hold Chinese conversations; a tokenizer made for spaces finds nothing in them.",
    fix="Index runs of CJK characters as pairs of characters, or use a segmenter.",
    cost=Cost(adds=3, searches=3),
    modes=(52,),
    peers=("P33",),
    cases=("B21",),
)
async def cjk(t: Trial) -> None:
    """One message and one question in each language."""
    chinese = t.ns.cjk_marker()
    pick = t.ns.random.choices
    name, place = ("".join(pick("アイウエオカキクケコサシスセソ", k=5)) for _ in range(2))
    japanese = Marker(
        f"明日は{place}の水族館で{name}さんと待ち合わせ", f"{place}の水族館", (name, place)
    )
    name, thing = ("".join(pick("가나다라마바사아자차카타파하", k=4)) for _ in range(2))
    korean = Marker(
        f"다음주에 {name} 씨와 {thing} 박물관에 갑니다", f"{thing} 박물관", (name, thing)
    )
    for language, marker in (("Chinese", chinese), ("Japanese", japanese), ("Korean", korean)):
        user = t.ns.user()
        added = await t.add(user, marker.text)
        exchange = await t.search_exchange(user, marker.query)
        t.require(
            bool(t.showing(t.items(exchange), marker)),
            f"a {language} message is not found by words copied from it",
            added,
            exchange,
        )


@rule(
    "visibility/second-connection",
    level=Level.MUST,
    clauses=("A12",),
    title="What was added over one connection is found over another.",
    why="The platform searches from other workers than it adds from.",
    fix="Commit before answering; keep no memories per connection, thread or worker process.",
    cost=Cost(adds=1, searches=3),
    modes=(25, 96),
)
async def second_connection(t: Trial) -> None:
    """Asked over the connection of the Add, then twice over new ones."""
    user, marker = t.ns.user(), t.ns.marker()
    added = await t.add(user, marker.text)
    await _found(t, user, marker, added)
    for _ in range(2):
        exchange = await t.send_search(t.search_body(user, marker.query), fresh=True)
        if exchange.status != 200:
            exchange = await t.search_exchange(user, marker.query)
        t.require(
            bool(t.showing(t.items(exchange), marker)),
            "a message is found over the connection it came by, but not over a new one",
            added,
            exchange,
        )


@rule(
    "visibility/across-sessions",
    level=Level.MUST,
    clauses=("A3", "S4"),
    title="A Search reaches all sessions of its user.",
    why="Search carries no session_id; a filter by session hides most of the conversation.",
    fix="Store session_id as a label only; filter by user_id alone.",
    cost=Cost(adds=3, searches=3),
    modes=(46,),
    peers=("P38",),
    cases=("B32",),
)
async def across_sessions(t: Trial) -> None:
    """Three sessions, one message each."""
    user, markers = t.ns.user(), [t.ns.marker() for _ in range(3)]
    added = [await t.add(user, marker.text) for marker in markers]
    await _all_found(t, user, markers, added, "the message of session {number}, of 3, is not found")


@rule(
    "visibility/assistant-role",
    level=Level.MUST,
    clauses=("A12", "A5"),
    title="Messages of the role assistant are found like those of the user.",
    why="Questions ask for what the assistant said, too.",
    fix="Store every message whatever its role.",
    cost=Cost(adds=1, searches=2),
    peers=("P34",),
)
async def assistant_role(t: Trial) -> None:
    """One chunk with a turn of either role."""
    user, markers = t.ns.user(), [t.ns.marker() for _ in range(2)]
    roles = ("user", "assistant")
    messages: list[Mapping[str, Any]] = [
        {"role": role, "content": marker.text} for role, marker in zip(roles, markers, strict=True)
    ]
    added = await t.add(user, *messages)
    for role, marker in zip(roles, markers, strict=True):
        await _found(t, user, marker, added, f"a message of the role {role}")


@rule(
    "visibility/growing",
    level=Level.MUST,
    clauses=("S13", "A12"),
    title="While a user's memory grows, each Search sees all that was acknowledged.",
    why="Streaming runs ask between Adds; a stale cache or an index swapped late forgets.",
    fix="Drop cached answers of a user with each of its Adds, or keep none.",
    cost=Cost(adds=8, searches=17),
    modes=(25, 77),
    peers=("P39",),
)
async def growing(t: Trial) -> None:
    """The same question after each of eight Adds, and one about a random earlier Add."""
    user, count = t.ns.user(), 4 if t.run.quick else 8
    topic = t.ns.topic(count)
    await t.search(user, topic.query)  # what is cached here must not come back below
    for number, marker in enumerate(topic.markers, start=1):
        added = await t.add(user, marker.text)
        exchange = await t.search_exchange(user, topic.query)
        for earlier, old in enumerate(topic.markers[:number], start=1):
            if t.showing(t.items(exchange), old):
                continue
            await planted(t, t.ns.user())
            t.fail(
                f"after {number} Adds the same question does not find what the "
                f"{'last' if earlier == number else 'earlier'} Add, number {earlier}, stored",
                added,
                exchange,
            )
        await _found(t, user, t.ns.random.choice(topic.markers[:number]), added)


@rule(
    "visibility/out-of-order",
    level=Level.SHOULD,
    clauses=("R6",),
    title="A later chunk that arrives first is stored, and so is the earlier one after it.",
    why="Retries change the order of arrival; an order enforced by the server loses chunks.",
    fix="Take the order from timestamps, not from arrival or from the request_id.",
    cost=Cost(adds=2, searches=2),
    modes=(42,),
)
async def out_of_order(t: Trial) -> None:
    """Two chunks of one session, the later one first."""
    user, session, request = t.ns.user(), t.ns.session(), t.ns.request()
    markers = [t.ns.marker() for _ in range(2)]
    for chunk in (1, 0):
        message = {
            "role": "user",
            "content": markers[chunk].text,
            "timestamp": 1704067200000 + chunk * DAY,
        }
        body = t.add_body(user, message, request=f"{request}:chunk-{chunk}", session=session)
        exchange = await t.insist("add", body)
        if exchange.status != 200 and chunk == 1:
            raise t.refused(exchange)
        t.require(
            exchange.status == 200,
            f"an earlier chunk that came after a later one was answered {exchange.summary}",
            exchange,
        )
    for chunk, marker in enumerate(markers):
        found = await t.search_exchange(user, marker.query)
        t.require(
            bool(t.showing(t.items(found), marker)),
            f"the {'later' if chunk else 'earlier'} of two chunks that came in reverse order "
            "is not found",
            found,
        )


@rule(
    "visibility/late",
    level=Level.MUST,
    clauses=("A12", "L1"),
    title="What was found once is still found a while later.",
    why="Runs last for days; what a clean-up, a merge or an expiry takes away is lost.",
    fix="Let background work never delete or replace what was acknowledged.",
    cost=Cost(adds=1, searches=6),
    modes=(79,),
    waits=True,
)
async def late(t: Trial) -> None:
    """Found at once, then again after a pause."""
    user, markers = t.ns.user(), [t.ns.marker() for _ in range(3)]
    added = await t.add(user, *(marker.text for marker in markers))
    for marker in markers:
        await _found(t, user, marker, added)
    await t.pause(LATER)
    await _all_found(
        t, user, markers, [added], "message {number}, found at first, is found no longer"
    )


async def _found(
    t: Trial, user: str, marker: Marker, added: Exchange, what: str = "a message"
) -> None:
    """The marker is there now; if not, a second look tells whether it is late or lost."""
    exchange = await t.search_exchange(user, marker.query)
    if t.showing(t.items(exchange), marker):
        return
    if t.rule.name != "visibility/immediate":  # where nothing is found, that one says so
        await planted(t, t.ns.user())
    await t.pause(LATER)
    if await t.find(user, marker):
        t.fail(
            f"{what} was acknowledged but not found at once, only seconds later: "
            "the Add was answered before its work was done",
            added,
            exchange,
        )
    t.fail(f"{what} was acknowledged but is not found, at once or later", added, exchange)


async def _all_found(
    t: Trial, user: str, markers: Sequence[Marker], added: Sequence[Exchange], which: str
) -> None:
    """All markers are found; ``which`` says of one, by its ``number``, that it is not."""
    for number, marker in enumerate(markers, start=1):
        exchange = await t.search_exchange(user, marker.query)
        if not t.showing(t.items(exchange), marker):
            await planted(t, t.ns.user())
            t.fail(which.format(number=number), added[min(number, len(added)) - 1], exchange)
