"""Ids that open other users' memories where they are more than strings (clauses A2, A8, L2).

Matched as patterns, pasted into queries, coerced, or read from another key: for the contract
each is an id of its own, or none.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from aml_contract.exchange import Exchange
from aml_contract.outcome import Level
from aml_contract.rule import Cost, rule
from aml_contract.techniques.twins import (
    Stored,
    all_see_only_their_own,
    keep_apart,
    no_leaks,
    sees_only_its_own,
    show,
    store_each,
)
from aml_contract.trial import Trial

WILDCARDS = ("*", "%", "_", "?", ".*", "[a-z]*", "all")
INJECTIONS = (
    "' OR 1=1 --",
    "' OR '1'='1",
    '" OR ""="',
    "x' UNION SELECT * FROM memories --",
    '{"$ne": null}',
    '{"$gt": ""}',
    "*) OR user_id:(*",
    "a} | @user_id:{eval",
    "user_id:[* TO *]",
    "|| true",
    "${user_id}",
    "\\",
)
COERCED = (
    "None",
    "null",
    "undefined",
    "NaN",
    "0",
    "1",
    "01",
    "1.0",
    "1e0",
    "true",
    "True",
    "false",
    "[]",
    "{}",
)


@rule(
    "isolation/wildcard-ids",
    level=Level.MUST,
    clauses=("L2", "A2"),
    title="A user id that is a pattern matches nobody but itself.",
    why="One memory library takes * as 'every user'; LIKE takes % and _; each is a legal id.",
    fix="Compare for equality, and escape or encode what your store takes as a pattern.",
    cost=Cost(adds=14, searches=23),
    modes=(75,),
    peers=("P92",),
    cases=("B05",),
    quick=False,
)
async def wildcard_ids(t: Trial) -> None:
    """Searched while nothing is stored under them, then stored under and searched again."""
    first, second = t.ns.user(), t.ns.user()
    made = (f"{first[:-1]}*", f"{first[:-1]}%", f"{first[:-1]}_", f"{first[:-1]}?")
    await _foreign_forms(t, [first, second], [*WILDCARDS, *made])


@rule(
    "isolation/injection-ids",
    level=Level.MUST,
    clauses=("L2", "A2"),
    title="A user id that looks like a query in SQL, MongoDB, Redis or Lucene is just an id.",
    why="An id pasted into a query widens it to every user.",
    fix="Bind ids as parameters; escape them where a store has none.",
    cost=Cost(adds=17, searches=29),
    modes=(75,),
    peers=("P92",),
    cases=("B05",),
    quick=False,
)
async def injection_ids(t: Trial) -> None:
    """Searched while nothing is stored under them, then stored under and searched again.

    None of the forms deletes anything where it works.
    """
    first, second = t.ns.user(), t.ns.user()
    made = (f"{first}' OR '1'='1", f'{first}" OR "1"="1')
    await _foreign_forms(t, [first, second], [*INJECTIONS, *made])


@rule(
    "isolation/coerced-ids",
    level=Level.MUST,
    clauses=("L2", "A2"),
    title="User ids that read like null, numbers or lists are strings like any other.",
    why="A server that coerces makes 01 and 1 one user, and hands None's memories to null.",
    fix="Take user_id as a strict string, refuse anything else, and never convert it.",
    cost=Cost(adds=15, searches=22),
    modes=(76,),
    quick=False,
)
async def coerced_ids(t: Trial) -> None:
    """Each as a string beside the others; then real null, numbers, lists as the user."""
    plain = t.ns.user()
    topic = t.ns.topic(1 + len(COERCED))
    stored = await store_each(t, [plain, *COERCED], topic)
    await all_see_only_their_own(t, stored, topic)
    values: tuple[Any, ...] = (None, 0, 1, 1.0, True, [], {})
    for value in values:
        body: dict[str, Any] = {**t.search_body("", topic.query), "user_id": value}
        _strangers(
            t,
            f"user_id {json.dumps(value)}, which is no string,",
            await t.send_search(body),
            stored,
        )


@rule(
    "isolation/alias-keys",
    level=Level.MUST,
    clauses=("L2", "A2", "A8"),
    title="Only the key user_id names the user; userId and the like are unknown keys.",
    why="A second spelling that wins over user_id is a door to other users' memories.",
    fix="Read user_id only; switch off aliases such as the camelCase of protobuf's JSON.",
    cost=Cost(adds=3, searches=6),
    modes=(74,),
)
async def alias_keys(t: Trial) -> None:
    """Searches and an Add as one user that name another in a key beside user_id."""
    mine, other = t.ns.user(), t.ns.user()
    topic = t.ns.topic(3)
    stored = await store_each(t, [mine, other], topic)
    for alias in ("userId", "UserId", "user", "USER_ID"):
        body = {**t.search_body(mine, topic.query), alias: other}
        exchange = await t.send_search(body)
        if exchange.status == 200:
            no_leaks(t, mine, exchange, stored)
    marker = topic.markers[2]
    added = await t.send_add({**t.add_body(mine, marker.text), "userId": other})
    if added.status == 200:
        stored.append(Stored(mine, marker, added))
        no_leaks(t, other, await t.search_exchange(other, topic.query), stored)
    await sees_only_its_own(t, stored[0], stored, topic, ordinary=True)


async def _foreign_forms(t: Trial, victims: Sequence[str], forms: Sequence[str]) -> None:
    """Victims store; the forms are searched as users, stored under, and searched again."""
    topic = t.ns.topic(len(victims))
    stored = await store_each(t, victims, topic)

    async def peek(form: str) -> None:
        exchange = await t.insist("search", t.search_body(form, topic.query))
        if exchange.status == 200:
            no_leaks(t, form, exchange, stored)

    await t.together(*map(peek, forms))
    await keep_apart(t, [victims[0], *forms])


def _strangers(t: Trial, who: str, exchange: Exchange, stored: Sequence[Stored]) -> None:
    """Nobody's memories come back for what is no user id at all."""
    if exchange.status != 200:
        return
    for item in t.items(exchange):
        for one in stored:
            t.require(
                not one.marker.leaks_into(item.content),
                f"{who} sees a memory of user {show(one.user)}",
                one.added,
                exchange,
            )
