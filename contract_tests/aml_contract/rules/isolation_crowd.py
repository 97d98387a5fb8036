"""Many other users change nothing for one (clauses L2, S15): crowds, races, odd bodies."""

from __future__ import annotations

import json
import math
import time
from collections.abc import Sequence
from typing import Any

from aml_contract.exchange import Exchange
from aml_contract.finding import NotTested
from aml_contract.namespace import Marker
from aml_contract.outcome import Level
from aml_contract.rule import Cost, rule
from aml_contract.techniques.steps import attempt, planted
from aml_contract.techniques.streams import LATER, Told
from aml_contract.techniques.twins import Stored, no_leaks
from aml_contract.trial import Trial

_MANY = 32
"""Users at once (failure mode 80)."""
_CROWD_ADDS = 100
_CHUNK = 20
"""Messages of each of the crowd's Adds: the most the platform sends in one."""
_CROWD_SECONDS = 12.0
"""Seconds after which no further Add of the crowd is begun."""
_FEWEST = 8
"""Adds below which a crowd is none."""


@rule(
    "isolation/many-at-once",
    level=Level.MUST,
    clauses=("L2", "L1", "S13"),
    title="Thirty-two users who add and ask at the same time see their own memories only.",
    why="A current user, session or collection kept in a global is right until an Add and a "
    "Search of two users overlap.",
    fix="Pass the user along with each call; use no global, and no thread-local in async code.",
    cost=Cost(adds=2 * _MANY, searches=2 * _MANY),
    modes=(80,),
    peers=("P86", "P136", "P137", "P138"),
    quick=False,
)
async def many_at_once(t: Trial) -> None:
    """Each user adds and asks twice, in step with nobody."""
    topic = t.ns.topic(2 * _MANY)
    told = Told(t, topic.query)

    async def stream(user: str, markers: Sequence[Marker]) -> None:
        for marker in markers:
            await told.tell(user, marker, t.ns.session())
            await told.sees_all(user, when=f"beside {_MANY - 1} other users")

    lots = [topic.markers[2 * i : 2 * i + 2] for i in range(_MANY)]
    await t.together(*(stream(t.ns.user(), lot) for lot in lots))


@rule(
    "isolation/crowding-out",
    level=Level.MUST,
    clauses=("L2", "A12", "S11"),
    title="One message is found among thousands that other users stored on the same topic.",
    why="An index that takes the nearest hits of everybody and filters by user afterwards "
    "comes back empty once others have said enough.",
    fix="Filter by user before the nearest-neighbour cut, partition the index by user, or "
    "scan the user's own memories exactly.",
    cost=Cost(adds=_CROWD_ADDS + 1, searches=5),
    modes=(78, 66),
    peers=("P86",),
    cases=("B07",),
    quick=False,
)
async def crowding_out(t: Trial) -> None:
    """A user's only message; then, within the budget, 2,000 of others that match better."""
    user, topic = t.ns.user(), t.ns.topic(1)
    own = Stored(user, topic.markers[0], await t.add(user, topic.markers[0].text))
    if not await t.find(user, Marker(own.marker.text, topic.query, own.marker.words)):
        raise NotTested("an ordinary message is not found (see visibility/*)")
    crowd = await _crowd(t, topic.query)
    for top_k in (100, 5):
        exchange = await t.search_exchange(user, topic.query, top_k=top_k)
        if not t.showing(t.items(exchange), own.marker):
            await t.pause(LATER)
            exchange = await t.search_exchange(user, topic.query, top_k=top_k)
        no_leaks(t, user, exchange, crowd)
        t.require(
            bool(t.showing(t.items(exchange), own.marker)),
            f"a user's only message, found at first, is not found with top_k {top_k} after "
            f"{len(crowd):,} messages of other users on the same topic",
            own.added,
            exchange,
        )


@rule(
    "isolation/others-change-nothing",
    level=Level.SHOULD,
    clauses=("S15",),
    title="What other users store changes neither the results of a user nor their order.",
    why="Word statistics over everybody's memories make a score depend on strangers: it shows "
    "what they talk about, and no run can be repeated.",
    fix="Keep document counts and frequencies per user, or rank by what does not depend on "
    "other documents.",
    cost=Cost(adds=7, searches=4),
    modes=(78,),
    exclusive=True,
)
async def others_change_nothing(t: Trial) -> None:
    """Six messages ranked by how many words of the question they hold; then 60 of others.

    Two equal Searches before that show that the results are steady by themselves.
    """
    user = t.ns.user()
    common, rare = ([t.ns.word() for _ in range(3)] for _ in range(2))
    query = f"Who brought {' and '.join(common)}, and who {rare[0]} and {rare[1]}?"
    held = (common, rare[:2], common[:2], rare[:1], common[:1], ())
    await t.add(user, *(_holding(t, words) for words in held))
    await t.pause(1.0)
    before = [await t.search_exchange(user, query) for _ in range(2)]
    first, second = (_ranking(t, exchange) for exchange in before)
    if not first:
        raise NotTested("ordinary messages are not found (see visibility/*)", before[0])
    if _ids(first) != _ids(second):
        raise NotTested("equal Searches differ by themselves (see order/stable)", *before)
    for _ in range(3):
        await t.add(t.ns.user("other"), *(_holding(t, common) for _ in range(_CHUNK)))
    for last in (False, True):
        after = await t.search_exchange(user, query)
        now = _ranking(t, after)
        if _ids(now) == _ids(first):
            break
        if last:
            same = set(_ids(now)) == set(_ids(first))
            t.fail(
                "60 messages that others stored with the same words changed "
                + ("the order of a user's results" if same else "which results a user gets"),
                before[1],
                after,
            )
        await t.pause(LATER)
    if _same_scores(first, second) and not _same_scores(second, now):
        t.warn(
            "60 messages that others stored with the same words changed the scores of a "
            "user's results, though not their order",
            before[1],
            after,
        )


@rule(
    "isolation/duplicate-keys",
    level=Level.MUST,
    clauses=("L2", "A2"),
    title="A body that names two users under one key is refused, or means one of them.",
    why="JSON readers differ on repeated keys: a check that reads the first and a store that "
    "reads the last let one user write or read as another.",
    fix="Refuse repeated keys with 422, or parse the body once and pass on what was parsed.",
    cost=Cost(adds=7, searches=7),
    modes=(74,),
    peers=("P133",),
    quick=False,
)
async def duplicate_keys(t: Trial) -> None:
    """user_id twice, plainly and once escaped; in an Add, then in a Search."""
    await planted(t, t.ns.user())
    for second in ('"user_id"', '"user\\u005fid"'):
        users, topic = (t.ns.user(), t.ns.user()), t.ns.topic(3)
        stored = [
            Stored(user, marker, await t.add(user, marker.text))
            for user, marker in zip(users, topic.markers, strict=False)
        ]
        written = await _written_to(t, users, topic.markers[2], topic.query, second)
        body = _twice(t.search_body(users[0], topic.query), users[1], second)
        exchange = await attempt(t, "search", body)
        if exchange.status != 200:
            continue
        items = t.items(exchange)
        read = [one.user for one in stored if t.showing(items, one.marker)]
        t.require(
            len(read) < 2,
            "a Search whose body names two users under user_id sees the memories of both",
            *(one.added for one in stored),
            exchange,
        )
        if written and read and written != read[0]:
            t.warn(
                "of two user_ids in one body, Add takes one and Search the other: repeated "
                "keys should be refused",
                exchange,
            )


@rule(
    "isolation/coerced-adds",
    level=Level.MUST,
    clauses=("A2", "L2"),
    title="An Add whose user_id is no string never lands with the user of that name.",
    why="null turned into 'None' puts the memories of every broken client into one pot, open "
    "to whoever asks for that name.",
    fix="Take user_id as a strict string and answer anything else with 422.",
    cost=Cost(adds=6, searches=11),
    modes=(76,),
    peers=("P102",),
    quick=False,
)
async def coerced_adds(t: Trial) -> None:
    """null, true, a list and an object; a number too, which some read as its digits."""
    await planted(t, t.ns.user())
    number = t.ns.random.randrange(10**12, 10**13)
    for value in (None, True, [t.ns.user()], {"id": t.ns.user()}, number):
        marker = t.ns.marker()
        made = await attempt(t, "add", {**t.add_body("", marker.text), "user_id": value})
        if made.status != 200:
            continue
        for name in dict.fromkeys((str(value), json.dumps(value))):
            exchange = await attempt(t, "search", t.search_body(name, marker.query))
            if exchange.status != 200 or not t.showing(t.items(exchange), marker):
                continue
            found = (
                f"an Add with the user_id {_kind(value)} was answered 200 and is read by the "
                f"user named {json.dumps(name)}"
            )
            if value is number:
                t.warn(found, made, exchange)
                break
            t.fail(found, made, exchange)


async def _crowd(t: Trial, query: str) -> list[Stored]:
    """Fill the store with messages of others that hold the whole question.

    Sixteen users, each serially, until all are stored or the time is used up.
    """
    until = time.monotonic() + _CROWD_SECONDS * t.run.patience
    left = iter(range(_CROWD_ADDS))
    crowd: list[Stored] = []
    adds = 0

    async def one(user: str) -> None:
        nonlocal adds
        for number in left:
            if number >= _FEWEST and time.monotonic() > until:
                return
            markers = [_echoing(t, query) for _ in range(_CHUNK)]
            added = await t.add(user, *(marker.text for marker in markers))
            crowd.extend(Stored(user, marker, added) for marker in markers)
            adds += 1

    await t.together(*(one(t.ns.user("crowd")) for _ in range(16)))
    note = f"{len(crowd):,} messages of others"
    if adds < _CROWD_ADDS:
        note += f" instead of {_CROWD_ADDS * _CHUNK:,}: Adds are slow and the budget was used up"
    t.note(note)
    return crowd


def _echoing(t: Trial, query: str) -> Marker:
    """A message that holds the question, and so is nearer to it than any answer."""
    w = [t.ns.word() for _ in range(4)]
    return Marker(f"{w[0]} {w[1]} asked {w[2]} {w[3]}: {query}", query, tuple(w))


def _holding(t: Trial, words: Sequence[str]) -> str:
    """A message with these words among eight of its own, equally long whatever they are."""
    own = [t.ns.word() for _ in range(8 - len(words))]
    return f"Remember that {' '.join([*own[:3], *words, *own[3:]])} were there."


def _ranking(t: Trial, exchange: Exchange) -> list[tuple[Any, Any]]:
    return [(item.id, item.raw.get("score")) for item in t.items(exchange)]


def _ids(ranking: Sequence[tuple[Any, Any]]) -> list[Any]:
    return [one for one, _ in ranking]


def _same_scores(one: Sequence[tuple[Any, Any]], other: Sequence[tuple[Any, Any]]) -> bool:
    """Nearly: a score may hold the age of a memory, which grows in between."""
    pairs = [(a, b) for (_, a), (_, b) in zip(one, other, strict=True)]
    if not all(type(score) in (int, float) for pair in pairs for score in pair):
        return True  # none, or none that can be compared: order/scores-finite
    return all(math.isclose(a, b, rel_tol=1e-3, abs_tol=1e-6) for a, b in pairs)


async def _written_to(
    t: Trial, users: tuple[str, str], marker: Marker, query: str, second: str
) -> str | None:
    """Which of two users named in one Add it was stored for; ``None`` if refused."""
    body = _twice(t.add_body(users[0], marker.text), users[1], second)
    added = await attempt(t, "add", body)
    if added.status != 200:
        return None
    found = [user for user in users if t.showing(await t.search(user, query), marker)]
    t.require(
        len(found) < 2,
        "an Add whose body names two users under user_id is read by both of them",
        added,
        t.last_exchange_of("search"),
    )
    return found[0] if found else None


def _twice(body: dict[str, Any], other: str, key: str) -> bytes:
    """The body with a second user_id behind the first."""
    text = json.dumps(body)
    return text.replace('"user_id"', f'"user_id": {json.dumps(other)}, {key}', 1).encode()


def _kind(value: object) -> str:
    """A value for a message, whose content is of no interest."""
    match value:
        case list():
            return "given as a list"
        case dict():
            return "given as an object"
        case _:
            return json.dumps(value)
