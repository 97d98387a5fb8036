"""Streams: users who add and ask in turn, side by side, as Streaming runs do (clause S13)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from aml_contract.exchange import Exchange
from aml_contract.namespace import Marker
from aml_contract.techniques.steps import planted
from aml_contract.techniques.twins import Stored, no_leaks, show
from aml_contract.trial import Trial

LATER = 3.0
"""Seconds after which a second look tells late from lost."""

Ask = Callable[[str, str], Awaitable[Exchange]]
"""Searches as a user for a query."""


class Told:
    """What users have been acknowledged, and what each of them must therefore see.

    Args:
        t: the trial.
        query: a question that finds all of it.
    """

    def __init__(self, t: Trial, query: str) -> None:
        self.stored: list[Stored] = []
        self._t = t
        self._query = query

    def of(self, user: str) -> list[Stored]:
        """One user's own, in the order of the acknowledgements."""
        return [one for one in self.stored if one.user == user]

    async def tell(self, user: str, marker: Marker, session: str) -> None:
        """Add one message and keep that it was acknowledged."""
        added = await self._t.add(user, marker.text, session=session)
        self.stored.append(Stored(user, marker, added))

    async def sees_all(self, user: str, *, when: str, ask: Ask | None = None) -> None:
        """Search as a user: everything acknowledged to it is there, nothing of others is.

        A second look tells whether what is missing is late or lost.

        Args:
            user: who asks.
            when: the circumstances, for the message.
            ask: how to search; :meth:`Trial.search_exchange` if not given.

        Raises:
            Violation: something is missing or another's.
            NotTested: nothing is found, not even calmly.
        """
        t, own = self._t, self.of(user)  # what comes during the Search need not be in it
        ask = ask or t.search_exchange
        exchange = await ask(user, self._query)
        no_leaks(t, user, exchange, self.stored)
        items = t.items(exchange)
        missing = next((one for one in own if not t.showing(items, one.marker)), None)
        if missing is None:
            return
        await t.pause(LATER)
        again = t.items(await ask(user, self._query))
        which = f"message {own.index(missing) + 1} of {len(own)} of user {show(user)}"
        if t.showing(again, missing.marker):
            end = (
                f"not found {when}, only seconds later: the Add was answered before its work "
                "was done"
            )
        else:
            await planted(t, t.ns.user())  # a memory that finds nothing at all is another finding
            end = f"is not found {when}, nor seconds later"
        t.fail(f"{which} was acknowledged but {end}", missing.added, exchange)
