"""A trial: one rule on one endpoint, and everything the rule may do there.

A rule gets a :class:`Trial` and nothing else. Two kinds of methods:

* ``add``, ``search``, ``find`` send *ordinary* requests, legal under every reading of
  the contract. They behave like the platform (a retryable answer is sent again, each
  time on a fresh connection) and end the rule as *not tested* when no good answer comes,
  so that one broken thing is not reported by forty rules; every such refusal is kept in
  ``run.refusals``, which the rule ``structure/legal-requests`` judges at the end.
* ``send_add``, ``send_search``, ``send`` send anything once and judge nothing.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Coroutine, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any, TypeVar

from aml_contract.body import dump
from aml_contract.endpoint.protocol import Endpoint, Process
from aml_contract.endpoint.raw import RawConnection
from aml_contract.endpoint.retry import send_again
from aml_contract.exchange import Exchange, Operation
from aml_contract.finding import NotTested, Violation
from aml_contract.item import Item, items_of
from aml_contract.namespace import Marker, Namespace
from aml_contract.rule import Capability, Need, Rule
from aml_contract.run import Refusal, Run

T = TypeVar("T")

ATTEMPTS = 4
"""Times an ordinary request is sent before the kit gives up (the platform: 32 and 6)."""
FLOODS = 3
"""Answers larger than any reader would take, until no more of that kind are asked for."""
_WHOLE = 4
"""Latest exchanges of a trial that are kept with all their bytes."""


class Trial:
    """What a rule works with. Every exchange made through it is recorded."""

    def __init__(self, rule: Rule, endpoint: Endpoint, run: Run) -> None:
        self.rule = rule
        self.endpoint = endpoint
        self.run = run
        self.ns = Namespace(run.seed, run.salt, rule.name)
        self.exchanges: list[Exchange] = []
        self.warnings: list[str] = []
        self.notes: list[str] = []
        self.figures: dict[str, float] = {}
        self.repeat: dict[str, Any] | None = None
        """What ``aml reproduce`` needs to make the finding again with fresh ids."""
        self.shown: list[Exchange] = []
        """Exchanges that warnings point at."""

    # -- saying what was found -------------------------------------------------------

    def fail(self, message: str, *exchanges: Exchange) -> None:
        """End the rule: the endpoint broke it.

        Raises:
            Violation: always.
        """
        raise Violation(message, *exchanges)

    def require(self, holds: bool, message: str, *exchanges: Exchange) -> None:
        """End the rule with ``message`` unless ``holds``.

        Raises:
            Violation: if not ``holds``.
        """
        if not holds:
            raise Violation(message, *exchanges)

    def warn(self, message: str, *exchanges: Exchange) -> None:
        """Report a risk without ending the rule; outcome *warned* if nothing fails."""
        self.warnings.append(message)
        self.shown.extend(exchanges)

    def note(self, message: str) -> None:
        """Add a figure or remark to the report; it changes no outcome."""
        self.notes.append(message)

    def figure(self, name: str, value: float) -> None:
        """Add a number to the JSON report under ``name``; it changes no outcome."""
        self.figures[name] = value

    # -- ordinary requests -----------------------------------------------------------

    async def add(
        self,
        user: str,
        *messages: str | Mapping[str, Any],
        request: str | None = None,
        session: str | None = None,
    ) -> Exchange:
        """Send an ordinary Add that must be acknowledged.

        Args:
            user: the ``user_id``.
            messages: texts (role ``user``, no timestamp) or whole message objects.
            request: the ``request_id``; fresh if not given.
            session: the ``session_id``; fresh if not given.

        Raises:
            NotTested: no 200 came; the refusal is recorded in the run.
        """
        body = self.add_body(user, *messages, request=request, session=session)
        return await self._ordinary("add", body)

    async def search(
        self, user: str, query: str, *, top_k: int = 100, options: Sequence[str] | None = None
    ) -> list[Item]:
        """Send an ordinary Search and read its items leniently.

        Raises:
            NotTested: no 200 with an object holding a ``data`` list came.
        """
        return self.items(await self.search_exchange(user, query, top_k=top_k, options=options))

    async def search_exchange(
        self, user: str, query: str, *, top_k: int = 100, options: Sequence[str] | None = None
    ) -> Exchange:
        """Like :meth:`search`, returning the exchange; read it with :meth:`items`."""
        return await self._ordinary("search", self.search_body(user, query, top_k, options))

    async def find(self, user: str, marker: Marker, *, top_k: int = 100) -> list[Item]:
        """Search for a marker; the items that show it (see :meth:`showing`)."""
        return self.showing(await self.search(user, marker.query, top_k=top_k), marker)

    def showing(self, items: Sequence[Item], marker: Marker) -> list[Item]:
        """The items that hold the marker, or the facts made from it (:meth:`Marker.shown_by`)."""
        verbatim = Capability.VERBATIM in self.run.capabilities
        contents = [item.content for item in items]
        return [items[n] for n in marker.shown_by(contents, verbatim=verbatim)]

    def last_exchange_of(self, operation: Operation) -> Exchange:
        """The latest exchange of that kind: to show with a finding."""
        return next(e for e in reversed(self.exchanges) if e.operation == operation)

    # -- anything --------------------------------------------------------------------

    async def send_add(self, body: Any, **how: Any) -> Exchange:
        """Send any Add body (``bytes`` as they are, else as JSON) once; see :meth:`send`."""
        return await self.send("add", body, **how)

    async def send_search(self, body: Any, **how: Any) -> Exchange:
        """Send any Search body once; see :meth:`send`."""
        return await self.send("search", body, **how)

    async def send(  # noqa: PLR0913  what can be varied in a request
        self,
        operation: Operation,
        body: Any = None,
        *,
        method: str | None = None,
        headers: Mapping[str, str] | None = None,
        auth: Mapping[str, str] | None = None,
        fresh: bool = False,
        url: str | None = None,
    ) -> Exchange:
        """Send one request, once, and judge nothing.

        Args:
            operation: chooses URL and, unless given, method.
            body: ``bytes`` as they are, ``None`` for no body, else dumped as JSON.
            method: instead of POST (GET for health).
            headers: added to or replacing the usual ones.
            auth: instead of the configured key's header; ``{}`` sends no key.
            fresh: on a connection of its own.
            url: instead of the operation's URL.

        Raises:
            NotTested: such requests were answered with floods, and no more are sent.
        """
        self._see_whether_it_floods(operation)
        data = body if body is None or isinstance(body, bytes) else dump(body)
        made = await self.endpoint.send(
            operation, data, method=method, headers=headers, auth=auth, fresh=fresh, url=url
        )
        self._record(made)
        return await made.parsed()

    @asynccontextmanager
    async def raw(self, operation: Operation) -> AsyncIterator[RawConnection]:
        """A connection of its own to the Add or Search URL, for what a client would hide.

        Raises:
            NotTested: no connection came about.
        """
        async with AsyncExitStack() as stack:
            try:
                opened = self.endpoint.raw(operation, self._record)
                connection = await stack.enter_async_context(opened)
            except OSError as error:
                raise NotTested(f"no connection for {operation}: {error}") from error
            yield connection

    @property
    def process(self) -> Process:
        """The server's process; rules that say what they need always have one.

        Raises:
            NotTested: there is none.
        """
        if self.endpoint.process is None:
            raise NotTested("needs a server that may be stopped and started")
        return self.endpoint.process

    @asynccontextmanager
    async def broken(self) -> AsyncIterator[None]:
        """Inside, the operator's fault holds; it is healed on every way out.

        Raises:
            NotTested: there is none, or a command of the operator failed.
        """
        faults = self.endpoint.faults
        if faults is None:
            raise NotTested("needs --fault-cmd and --heal-cmd")
        try:
            async with faults.broken():
                yield
        finally:
            if faults.trouble:
                self.note(f"the endpoint may still be broken: {faults.trouble}")

    async def health(self) -> Exchange:
        """GET the health URL without a key (clause E3)."""
        return await self.send("health", auth={})

    async def insist(self, operation: Operation, body: Any, **how: Any) -> Exchange:
        """Send as the platform does, again while the answer asks for it; judge nothing."""

        async def once(attempt: int) -> Exchange:
            return await self.send(operation, body, **{**how, "fresh": attempt > 1})

        return await send_again(once, attempts=ATTEMPTS, patience=self.run.patience, heed=True)

    def refused(self, exchange: Exchange) -> NotTested:
        """What to raise when an ordinary request got no 200; keeps it in the run."""
        if Need.FAULT not in self.rule.needs:  # it may not have got over the fault yet
            self.run.refusals.append(Refusal(self.rule.name, exchange))
        times = " again and again" if exchange.retryable else ""
        name = exchange.operation.capitalize()
        return NotTested(
            f"an ordinary {name} was answered {exchange.summary}{times} "
            "(see structure/legal-requests)",
            exchange,
        )

    @staticmethod
    async def together(*work: Coroutine[Any, Any, T]) -> list[T]:
        """Do several things at once; the first finding among them ends the others."""
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(one) for one in work]
        return [task.result() for task in tasks]

    async def pause(self, seconds: float) -> None:
        """Wait, scaled by the run's ``patience`` (tests make it small)."""
        await asyncio.sleep(seconds * self.run.patience)

    # -- bodies and readings ---------------------------------------------------------

    def add_body(
        self,
        user: str,
        *messages: str | Mapping[str, Any],
        request: str | None = None,
        session: str | None = None,
    ) -> dict[str, Any]:
        """The JSON object of an Add, as :meth:`add` sends it."""
        return {
            "request_id": request if request is not None else self.ns.request(),
            "user_id": user,
            "session_id": session if session is not None else self.ns.session(),
            "messages": [
                {"role": "user", "content": m} if isinstance(m, str) else dict(m) for m in messages
            ],
        }

    def search_body(
        self, user: str, query: str, top_k: int = 100, options: Sequence[str] | None = None
    ) -> dict[str, Any]:
        """The JSON object of a Search, as :meth:`search` sends it."""
        body: dict[str, Any] = {"query": query, "user_id": user, "top_k": top_k}
        if options is not None:
            body["options"] = list(options)
        return body

    def items(self, exchange: Exchange) -> list[Item]:
        """Read a Search answer leniently: whatever looks like an item.

        Raises:
            NotTested: the answer has no readable ``data`` list.
        """
        return items_of(exchange)

    # -- inside ----------------------------------------------------------------------

    def _record(self, made: Exchange) -> None:
        if len(self.exchanges) >= _WHOLE:
            self.exchanges[-_WHOLE] = self.exchanges[-_WHOLE].light
        self.exchanges.append(made)
        self.run.keep(self.rule.name, made)

    def _see_whether_it_floods(self, operation: Operation) -> None:
        if self.run.floods[operation] >= FLOODS:
            raise NotTested(
                f"{operation.capitalize()} answers are larger than anybody would read; after "
                f"{FLOODS} of them no more are asked for (see structure/legal-requests)"
            )

    async def _ordinary(self, operation: Operation, body: dict[str, Any]) -> Exchange:
        exchange = await self.insist(operation, body)
        self.run.ordinary.append(exchange.light)
        if exchange.status != 200:
            raise self.refused(exchange)
        if exchange.flood:
            raise NotTested(
                f"an ordinary {operation.capitalize()} was answered {exchange.summary} "
                "(see structure/legal-requests)",
                exchange,
            )
        return exchange
