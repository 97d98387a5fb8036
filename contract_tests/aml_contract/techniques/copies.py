"""Copies: how often a message is there, before and after its Add was sent again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from aml_contract.endpoint.retry import send_again
from aml_contract.exchange import Exchange, NotStrictJSONError
from aml_contract.finding import NotTested
from aml_contract.item import Item
from aml_contract.namespace import Marker, squeeze
from aml_contract.rule import Capability
from aml_contract.techniques.twins import blames_the_id
from aml_contract.trial import Trial

STILL_AT_WORK = 12
"""Times a repeat is sent while it is answered 409: about half a minute at least."""


@dataclass(frozen=True)
class Control:
    """An Add like the one under test, sent once: how many copies are normal.

    Windows around a hit, summaries and facts drawn from it may hold the text more than
    once, and may come later; so no number is wrong by itself, only one that grows more
    than that of an Add which was never repeated.
    """

    user: str
    sample: Sequence[Marker]
    """The markers that are counted."""
    counts: Sequence[int]
    """How often each of them is there."""
    seconds: float
    """How long the Add took."""

    @classmethod
    async def add(cls, t: Trial, messages: int = 1) -> Control:
        """As many messages as the Add under test holds, in words of its own.

        Raises:
            NotTested: the first is not found.
        """
        markers = [t.ns.marker() for _ in range(messages)]
        return await cls.told(t, [marker.text for marker in markers], markers[:1])

    @classmethod
    async def told(cls, t: Trial, texts: Sequence[str], sample: Sequence[Marker]) -> Control:
        """Tell a user of its own ``texts``.

        Raises:
            NotTested: one of the sample is not found.
        """
        user = t.ns.user("control")
        added = await t.add(user, *texts)
        found = await counts(t, user, sample)
        if not all(found):
            raise NotTested("an ordinary message is not found (see visibility/immediate)", added)
        return cls(user, sample, found, added.seconds)

    async def none_more(
        self, t: Trial, user: str, marker: Marker, before: int | None, *shown: Exchange
    ) -> None:
        """The user under test has no more copies than before, or than are normal.

        Raises:
            Violation: there are more, or none is left.
        """
        exchange = await t.search_exchange(user, marker.query)
        after = copies(t, t.items(exchange), marker)
        t.require(after > 0, "after the repeat the message is not found", *shown, exchange)
        usual = self.counts[0] if before is None else before
        if after <= usual:
            return
        t.require(
            after <= usual + await self.growth(t),
            f"the repeat was stored again: the message was there {_times(usual)}, and is "
            f"now there {_times(after)}",
            *shown,
            exchange,
        )

    async def growth(self, t: Trial) -> int:
        """How many copies of the control's first marker have come since it was stored."""
        return max(0, await copies_found(t, self.user, self.sample[0]) - self.counts[0])


def copies(t: Trial, items: list[Item], marker: Marker) -> int:
    """How often the marker is there: also twice in one item.

    Of a system that rewrites, only items that are alike to the letter count.
    """
    if Capability.VERBATIM in t.run.capabilities:
        text = squeeze(marker.text)
        return sum(squeeze(item.content).count(text) for item in items)
    showing = [item.content for item in t.showing(items, marker)]
    return max((showing.count(content) for content in showing), default=0)


async def copies_found(t: Trial, user: str, marker: Marker) -> int:
    """How often a Search shows the marker.

    Raises:
        NotTested: not at all.
    """
    exchange = await t.search_exchange(user, marker.query)
    count = copies(t, t.items(exchange), marker)
    if not count:
        raise NotTested("an ordinary message is not found (see visibility/immediate)", exchange)
    return count


async def counts(t: Trial, user: str, markers: Sequence[Marker]) -> list[int]:
    """How often each marker is there (see :func:`copies`)."""

    async def count(marker: Marker) -> int:
        return copies(t, await t.search(user, marker.query), marker)

    return await t.together(*map(count, markers))


async def ordinary_add(t: Trial, body: dict[str, Any]) -> Exchange:
    """Like ``Trial.add``, of a body that will be sent again."""
    exchange = await t.insist("add", body)
    if exchange.status != 200:
        raise t.refused(exchange)
    return exchange


async def repeated(t: Trial, body: Any) -> Exchange:
    """Send a repeat as the platform does, and judge nothing.

    A 409 says that the first try is still at work (clause R5). That may take an LLM
    longer than other temporary troubles last, so it is given longer.
    """

    async def once(attempt: int) -> Exchange:
        return await t.send("add", body, fresh=attempt > 1)

    exchange = await t.insist("add", body)
    if exchange.status == 409:
        return await send_again(once, attempts=STILL_AT_WORK, patience=t.run.patience)
    return exchange


async def replayed(t: Trial, body: Any, what: str) -> Exchange:
    """Send a repeat until it is no longer "later"; it must succeed."""
    exchange = await repeated(t, body)
    if exchange.status not in (200, 409) and not blames_the_id(exchange):
        raise t.refused(exchange)
    t.require(
        exchange.status == 200,
        f"{what} was answered {exchange.summary}, not 200"
        + (" although nothing is in flight any more" if exchange.status == 409 else ""),
        exchange,
    )
    return exchange


def same_success(t: Trial, first: Exchange, second: Exchange) -> None:
    """Both answers say success, with the same ids."""
    names = ("success", "request_id", "user_id", "session_id")
    try:
        one, two = first.json, second.json
    except NotStrictJSONError:
        return  # structure/add-json
    if not isinstance(one, dict):
        return  # structure/add-success
    for name in names:
        if name in one:
            t.require(
                isinstance(two, dict) and name in two and two[name] == one[name],
                f"{name} in the answer to the repeat differs from the first answer's",
                first,
                second,
            )


def _times(count: int) -> str:
    return "once" if count == 1 else f"{count} times"
