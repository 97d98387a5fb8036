"""Adds and Searches interleave, and each Search sees all acknowledged so far (S13, A12)."""

from __future__ import annotations

from collections.abc import Sequence

from aml_contract.exchange import Exchange
from aml_contract.namespace import Marker, Topic
from aml_contract.outcome import Level
from aml_contract.rule import Cost, rule
from aml_contract.techniques.meaning import BESIDE, SAID
from aml_contract.techniques.streams import LATER, Told
from aml_contract.techniques.twins import no_leaks
from aml_contract.trial import Trial

_CROWD = 16
"""Users at work at the same time: the least that an endpoint declares (clause L1)."""


@rule(
    "streaming/interleaved",
    level=Level.MUST,
    clauses=("S13", "A12", "L2"),
    title="While several users add and ask in turn, every Search sees all of its own user.",
    why="41 % of matched questions came before their user's last Add: a Search that lags "
    "behind the Adds, or is mixed up by those of others, answers from a wrong memory.",
    fix="Read from what is committed, for this user, in each Search; drop what is cached of a "
    "user with each of its Adds.",
    cost=Cost(adds=36, searches=42),
    modes=(25, 80),
    peers=("P39", "P138"),
)
async def interleaved(t: Trial) -> None:
    """Six users, six rounds each: an Add in one of two sessions, then the same question."""
    users, rounds = [t.ns.user() for _ in range(6)], 3 if t.run.quick else 6
    topic = t.ns.topic(len(users) * rounds)
    told = Told(t, topic.query)

    async def stream(user: str, markers: Sequence[Marker]) -> None:
        sessions = (t.ns.session(), t.ns.session())
        await told.sees_all(user, when="before its first Add")
        for number, marker in enumerate(markers):
            await told.tell(user, marker, sessions[number % 2])
            await told.sees_all(user, when="while others add and ask at the same time")

    lots = [topic.markers[i * rounds : (i + 1) * rounds] for i in range(len(users))]
    await t.together(*map(stream, users, lots))


@rule(
    "streaming/under-load",
    level=Level.MUST,
    clauses=("A12", "S13", "L1"),
    title="With 16 requests in flight, each message is found straight after its 200.",
    why="An index that keeps up with one writer falls behind sixteen; what is then still in a "
    "queue counts as forgotten.",
    fix="Answer 200 after the index has the message, however long the queue is; limit what "
    "you accept (429) instead of what you have done.",
    cost=Cost(adds=48, searches=48),
    modes=(25,),
    peers=("P138", "P32"),
    exclusive=True,
    quick=False,
)
async def under_load(t: Trial) -> None:
    """Sixteen users at once, each adding and asking in turn without a pause."""
    topic = t.ns.topic(3 * _CROWD)
    told = Told(t, topic.query)

    async def stream(user: str, markers: Sequence[Marker]) -> None:
        for marker in markers:
            await told.tell(user, marker, t.ns.session())
            await told.sees_all(user, when="at once while 16 users are served")

    lots = [topic.markers[i * 3 : i * 3 + 3] for i in range(_CROWD)]
    # Places of their own: a Search that had to wait for one would not be immediate.
    async with t.endpoint.lanes(adds=_CROWD, searches=_CROWD):
        await t.together(*(stream(t.ns.user(), lot) for lot in lots))


@rule(
    "streaming/cjk",
    level=Level.SHOULD,
    clauses=("S13", "A12", "A10"),
    title="Chinese messages are found straight after their Adds, while others are added.",
    why="Segmenters and CJK indexes are often a second, slower path beside the Latin one.",
    fix="Write every index before answering, whatever the language; await the segmenter.",
    cost=Cost(adds=18, searches=18),
    modes=(25, 52),
    peers=("P33", "P39"),
)
async def cjk(t: Trial) -> None:
    """Six users, three Chinese messages each, every one asked for by its own words."""

    async def stream(user: str) -> None:
        for _ in range(3):
            marker = t.ns.cjk_marker()
            told = Told(t, marker.query)
            await told.tell(user, marker, t.ns.session())
            await told.sees_all(user, when="by Chinese words copied from it")

    await t.together(*(stream(t.ns.user()) for _ in range(6)))


@rule(
    "streaming/second-connection",
    level=Level.MUST,
    clauses=("S13", "A12"),
    title="What is added over one connection is found at once over another, all the time.",
    why="The platform adds and asks from different workers; a replica, a snapshot per "
    "connection or a cache per worker shows them an older memory.",
    fix="Share one store between all workers, or send a user's requests to one of them; "
    "open a new read transaction for each Search.",
    cost=Cost(adds=16, searches=20),
    modes=(25, 96),
    peers=("P39",),
    quick=False,
)
async def second_connection(t: Trial) -> None:
    """Four users stream; each question travels over a new connection."""
    topic = t.ns.topic(16)
    told = Told(t, topic.query)

    async def ask(user: str, query: str) -> Exchange:
        body = t.search_body(user, query)
        exchange = await t.send_search(body, fresh=True)
        return exchange if exchange.status == 200 else await t.search_exchange(user, query)

    async def stream(user: str, markers: Sequence[Marker]) -> None:
        await t.search_exchange(user, topic.query)
        for marker in markers:
            await told.tell(user, marker, t.ns.session())
            await told.sees_all(user, when="over another connection", ask=ask)

    lots = [topic.markers[i * 4 : i * 4 + 4] for i in range(4)]
    await t.together(*(stream(t.ns.user(), lot) for lot in lots))


@rule(
    "streaming/after-a-pause",
    level=Level.MUST,
    clauses=("A12", "S13", "L2"),
    title="What a stream of Adds stored is all there a while later, and nothing of others is.",
    why="Consolidation, compaction and enrichment run when nobody asks; what they drop, merge "
    "or share shows up only then.",
    fix="Let background work add to what was acknowledged, for one user at a time, and never "
    "replace the message itself.",
    cost=Cost(adds=12, searches=8),
    modes=(25, 79),
    quick=False,
    waits=True,
)
async def after_a_pause(t: Trial) -> None:
    """Four users, three messages each in one session; asked at once and after seconds."""
    users = [t.ns.user() for _ in range(4)]
    topic = t.ns.topic(12)
    told = Told(t, topic.query)

    async def stream(user: str, markers: Sequence[Marker]) -> None:
        session = t.ns.session()
        for marker in markers:
            await told.tell(user, marker, session)
        await told.sees_all(user, when="right after the last Add")

    lots = [topic.markers[i * 3 : i * 3 + 3] for i in range(4)]
    await t.together(*map(stream, users, lots))
    await t.pause(LATER)
    await t.together(*(_still_there(t, told, user, topic) for user in users))


@rule(
    "streaming/paraphrase",
    level=Level.MAY,
    clauses=("A12", "S13"),
    title="A question in other words finds the same straight after the Add as seconds later.",
    why="Where embeddings are computed in the background, the words are found at once and the "
    "meaning only later: questions asked in between miss.",
    fix="Write the vector before the 200, in the same transaction as the text.",
    cost=Cost(adds=4, searches=12),
    modes=(26,),
    peers=("P39",),
)
async def paraphrase(t: Trial) -> None:
    """Four facts, each among eight messages; asked for without their words, at once and later.

    Whether a paraphrase finds anything is a matter of quality; only a difference between
    now and later says that an Add was answered too early.
    """
    first: list[tuple[str, Marker, Exchange, Exchange]] = []
    for text, question in SAID:
        # A user each, and one Add: between now and later nothing but time may differ.
        user, marker = t.ns.user(), Marker(text, question)
        added = await t.add(user, *BESIDE, text)
        early = await t.search_exchange(user, question, top_k=3)
        first.append((user, marker, added, early))
    await t.pause(LATER)
    late: list[tuple[str, Exchange, Exchange]] = []
    for user, marker, added, early in first:
        if t.showing(t.items(early), marker):
            continue
        again = [await t.search_exchange(user, marker.query, top_k=3) for _ in range(2)]
        if all(t.showing(t.items(exchange), marker) for exchange in again):
            late.append((marker.query, added, early))
    if late:
        question, *shown = late[0]
        t.fail(
            f"{len(late)} of {len(first)} facts are found by a question in other words only "
            f"seconds after their Add was answered, as {question!r}: meaning is indexed later "
            "than words",
            *shown,
        )


async def _still_there(t: Trial, told: Told, user: str, topic: Topic) -> None:
    """All that a user had found is found again; nothing of others has joined it."""
    own = told.of(user)
    exchange = await t.search_exchange(user, topic.query)
    no_leaks(t, user, exchange, told.stored)
    items = t.items(exchange)
    gone = [n for n, one in enumerate(own, start=1) if not t.showing(items, one.marker)]
    if gone:
        t.fail(
            f"{len(gone)} of {len(own)} messages that were found right after their Adds are "
            "found no longer seconds later: something removes them when nobody asks",
            own[gone[0] - 1].added,
            exchange,
        )
