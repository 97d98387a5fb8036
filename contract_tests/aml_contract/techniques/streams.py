"""Streams: users who add and ask in turn, side by side, as Streaming runs do (clause S13)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

from aml_contract.exchange import Exchange
from aml_contract.namespace import Marker
from aml_contract.techniques.twins import Stored, no_leaks, show
from aml_contract.trial import Trial

LATER = 3.0
"""Seconds after which a second look tells late from lost."""

Ask = Callable[[str, str], Awaitable[Exchange]]
"""Searches as a user for a query."""


@dataclass
class Told:
    """What has been acknowledged so far, of all users of a rule."""

    stored: list[Stored] = field(default_factory=list)

    def of(self, user: str) -> list[Stored]:
        """One user's own."""
        return [one for one in self.stored if one.user == user]


async def tell(t: Trial, told: Told, user: str, marker: Marker, session: str) -> Stored:
    """Add one message and keep that it was acknowledged."""
    one = Stored(user, marker, await t.add(user, marker.text, session=session))
    told.stored.append(one)
    return one


async def sees_all(
    t: Trial, told: Told, user: str, query: str, *, when: str, ask: Ask | None = None
) -> None:
    """Search as a user: everything acknowledged to it is there, nothing of others is.

    A second look tells whether what is missing is late or lost.

    Args:
        t: the trial.
        told: what was acknowledged.
        user: who asks.
        query: a question that finds all of it.
        when: the circumstances, to end the message.
        ask: how to search; :meth:`Trial.search_exchange` if not given.

    Raises:
        Violation: something is missing or another's.
    """
    own = told.of(user)  # before the Search: what comes later need not be in it
    exchange = await (ask or t.search_exchange)(user, query)
    no_leaks(t, user, exchange, told.stored)
    items = t.items(exchange)
    missing = next((one for one in own if not t.showing(items, one.marker)), None)
    if missing is None:
        return
    await t.pause(LATER)
    again = await t.search_exchange(user, query)
    late = bool(t.showing(t.items(again), missing.marker))
    number, of = own.index(missing) + 1, len(own)
    which = f"message {number} of {of} of user {show(user)}"
    if late:
        t.fail(
            f"{which} was acknowledged but not found {when}, only seconds later: the Add was "
            "answered before its work was done",
            missing.added,
            exchange,
        )
    t.fail(
        f"{which} was acknowledged but is not found {when}, nor seconds later",
        missing.added,
        exchange,
    )
