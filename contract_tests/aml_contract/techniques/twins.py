"""Twins: ids that a careless server takes for one, and how to see whether it does."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass

from aml_contract.exchange import Exchange
from aml_contract.finding import NotTested
from aml_contract.namespace import Marker, Topic
from aml_contract.techniques.resemblance import resemblance
from aml_contract.techniques.steps import planted
from aml_contract.trial import Trial

SECOND_LOOK = 2.0
"""Seconds before a missing memory is looked for again: being late is judged elsewhere."""


@dataclass(frozen=True)
class Stored:
    """One user's only memory and the Add that stored it."""

    user: str
    marker: Marker
    added: Exchange


def show(text: str) -> str:
    """An id for a message: what cannot be seen is escaped, what is long is cut."""
    shown = json.dumps(text)
    if len(shown) <= 60:
        return shown
    return f"{shown[:28]}…{shown[-20:]} ({len(text)} characters)"


def leak(user: str, owner: str) -> str:
    """The sentence that says who sees whose memory, and what their ids have in common."""
    alike = resemblance(user, owner)
    return f"user {show(user)} sees a memory of user {show(owner)}" + (alike and f"; {alike}")


def blames_the_id(exchange: Exchange) -> bool:
    """Whether an answer refuses what was sent: 4xx that is final, or a crash (500, 502).

    Raises:
        NotTested: no answer, or one that says "later"; nobody's id is at fault.
    """
    if exchange.status in (500, 502) or (exchange.status and not exchange.retryable):
        return True
    name = exchange.operation.capitalize()
    raise NotTested(f"the {name} was answered {exchange.summary} again and again", exchange)


async def keep_apart(
    t: Trial, twins: Sequence[str], *, request: str | None = None, may_refuse: bool = False
) -> None:
    """Store one memory for each twin; each must then find its own and no other's.

    All are found by one query, so that a leak cannot hide behind a lack of overlap. The
    first twin is an ordinary id: when even that finds nothing, the rule was not tested.

    Args:
        t: the trial.
        twins: the user ids, all different.
        request: one request id for all of them; fresh ones if not given.
        may_refuse: a refused id is no risk worth a warning (control characters).

    Raises:
        Violation: a user sees another's memory, or misses its own.
        NotTested: the ordinary id does not work.
    """
    topic = t.ns.topic(len(twins))
    stored = await store_each(t, twins, topic, request=request, may_refuse=may_refuse)
    await all_see_only_their_own(t, stored, topic)


async def all_see_only_their_own(t: Trial, stored: Sequence[Stored], topic: Topic) -> None:
    """Every user finds its own memory and no other's; the first one is ordinary."""
    await t.together(*(sees_only_its_own(t, one, stored, topic) for one in stored[1:]))
    await sees_only_its_own(t, stored[0], stored, topic, ordinary=True)


async def store_each(
    t: Trial,
    twins: Sequence[str],
    topic: Topic,
    *,
    request: str | None = None,
    may_refuse: bool = False,
) -> list[Stored]:
    """Store one marker for each user; ids that are refused are warned about and left out.

    Raises:
        NotTested: the first, an ordinary one, is refused.
    """

    async def store(user: str, marker: Marker) -> Stored:
        body = t.add_body(user, marker.text, request=request)
        return Stored(user, marker, await t.insist("add", body))

    tried = await t.together(*map(store, twins, topic.markers))
    if tried[0].added.status != 200:
        raise t.refused(tried[0].added)
    refused = [s for s in tried if s.added.status != 200 and blames_the_id(s.added)]
    if refused and not may_refuse:
        first = refused[0]
        t.warn(
            f"{len(refused)} of {len(twins)} user ids were refused, {show(first.user)} with "
            f"{first.added.summary}; ids are opaque",
            first.added,
        )
    return [one for one in tried if one not in refused]


async def sees_only_its_own(
    t: Trial, one: Stored, stored: Sequence[Stored], topic: Topic, *, ordinary: bool = False
) -> None:
    """Search as one user: its own memory is there, nobody else's is."""
    exchange = await t.insist("search", t.search_body(one.user, topic.query))
    if exchange.status == 200:
        no_leaks(t, one.user, exchange, stored)
        if t.showing(t.items(exchange), one.marker):
            return
        await t.pause(SECOND_LOOK)
        exchange = await t.insist("search", t.search_body(one.user, topic.query))
    if exchange.status != 200:
        if ordinary or not blames_the_id(exchange):
            raise t.refused(exchange)
        t.fail(
            f"a memory was stored for user {show(one.user)}, but its Search is answered "
            f"{exchange.summary}",
            one.added,
            exchange,
        )
    no_leaks(t, one.user, exchange, stored)
    if t.showing(t.items(exchange), one.marker):
        return
    if ordinary:
        raise NotTested(
            "an ordinary user's memory was not found (see visibility/immediate)", exchange
        )
    await planted(t, t.ns.user())
    t.fail(
        f"user {show(one.user)} does not find its own memory, stored with 200",
        one.added,
        exchange,
    )


def no_leaks(t: Trial, user: str, exchange: Exchange, stored: Sequence[Stored]) -> None:
    """No item of this user's answer was made from another user's memory."""
    for item in t.items(exchange):
        for other in stored:
            if other.user != user and other.marker.leaks_into(item.content):
                t.fail(leak(user, other.user), other.added, exchange)
