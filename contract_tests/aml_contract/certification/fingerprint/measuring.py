"""Measuring a fingerprint: canaries stored for two users, each asked twice."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from aml_contract.body import dump
from aml_contract.certification.fingerprint.canaries import Canaries
from aml_contract.certification.fingerprint.model import Fingerprint, Refusal
from aml_contract.certification.fingerprint.reading import Reader, asked_of, structure
from aml_contract.endpoint.protocol import Endpoint
from aml_contract.endpoint.retry import send_again
from aml_contract.exchange import Exchange, NotStrictJSONError, Operation
from aml_contract.finding import NotTested
from aml_contract.item import items_of
from aml_contract.namespace import Namespace

_TRIES = 6
_AT_ONCE = 4
"""Searches side by side: the same wherever fingerprints are taken, so that times compare."""
_TIMES = 2
"""Users, and how often each is asked."""


class Untaken(Exception):  # noqa: N818  a state of the world, told to the user
    """No fingerprint could be taken: an ordinary request got no good answer."""


@dataclass
class Taking:
    """Takes a fingerprint of what answers at an endpoint.

    Args:
        endpoint: where to.
        canaries: what to store and ask.
        namespace: makes the ids.
        patience: scales the waits between tries.
        progress: shown the share that is done.
    """

    endpoint: Endpoint
    canaries: Canaries
    namespace: Namespace
    patience: float = 1.0
    progress: Callable[[float], None] = lambda _: None
    _done: int = 0
    _adds: list[float] = field(default_factory=list)
    _searches: list[float] = field(default_factory=list)
    _ids: list[str] = field(default_factory=list)

    async def fingerprint(self) -> Fingerprint:
        """Store, ask, and keep what is steady.

        Between the two users another one stores memories in the same words, and each is asked
        again in the end: what depends on others, on chance or on a cache does not stay.

        Raises:
            Untaken: an Add or a Search of the canaries got no good answer.
        """
        stored = datetime.now(UTC).isoformat(timespec="seconds")
        first = await self._store()
        rounds = [await self.ask(first)]
        await self._crowd()
        second = await self._store()
        rounds += [await self.ask(user) for user in (second, first, second)]
        reader = Reader(self.canaries, self._ids)
        answers = [[reader.read(made) for made in exchanges] for exchanges in rounds]
        shapes = [reader.shape(exchanges) for exchanges in rounds]
        return Fingerprint(
            canaries=self.canaries,
            users=[first, second],
            stored=stored,
            answers=[asked_of(alike) for alike in zip(*answers, strict=True)],
            seen=sorted(set().union(*(each.seen for those in answers for each in those))),
            shape=shapes[0] if all(shape == shapes[0] for shape in shapes) else None,
            refusals=[await self._refusal(*probe) for probe in _probes(self.namespace)],
            add_seconds=[round(seconds, 4) for seconds in self._adds],
            search_seconds=[round(seconds, 4) for seconds in self._searches],
        )

    async def ask(self, user: str) -> list[Exchange]:
        """Every question, asked for one user.

        Raises:
            Untaken: a Search got no good answer.
        """
        places = asyncio.Semaphore(_AT_ONCE)

        async def one(query: str) -> Exchange:
            body = {"query": query, "user_id": user, "top_k": self.canaries.top_k}
            async with places:
                return await self._ordinary("search", body, self._searches)

        try:
            async with asyncio.TaskGroup() as group:
                asked = [group.create_task(one(query)) for query in self.canaries.queries]
        except ExceptionGroup as several:
            raise next(_leaves(several)) from several
        return [task.result() for task in asked]

    async def _store(self) -> str:
        user = self.namespace.user("canary")
        self._ids.append(user)
        for session in self.canaries.sessions:
            messages = [{"role": "user", **canary.model_dump()} for canary in session]
            await self._add(user, messages, self._adds)
        return user

    async def _crowd(self) -> None:
        user = self.namespace.user("bystander")
        for chunk in self.canaries.bystander:
            await self._add(user, [{"role": "user", "content": text} for text in chunk], [])

    async def _add(self, user: str, messages: list[dict[str, Any]], times: list[float]) -> None:
        ids = {"request_id": self.namespace.request(), "session_id": self.namespace.session()}
        self._ids += ids.values()
        await self._ordinary("add", {**ids, "user_id": user, "messages": messages}, times)

    async def _ordinary(
        self, operation: Operation, body: dict[str, Any], times: list[float]
    ) -> Exchange:
        made = await self._insist(operation, dump(body), _TRIES)
        if made.status != 200 or made.cut:
            name = operation.capitalize()
            raise Untaken(f"a canary's {name} was answered {made.summary}")
        try:
            if operation == "search":
                items_of(made)
        except NotTested as error:
            raise Untaken(str(error)) from error
        times.append(made.seconds)
        self._done += 1
        self.progress(min(1.0, self._done / self._planned))
        return made

    async def _insist(self, operation: Operation, data: bytes, tries: int) -> Exchange:
        async def once(attempt: int) -> Exchange:
            return await self.endpoint.send(operation, data, fresh=attempt > 1)

        return await send_again(once, attempts=tries, patience=self.patience, heed=True)

    async def _refusal(self, probe: str, operation: Operation, data: bytes) -> Refusal:
        made = [await self._insist(operation, data, _TIMES) for _ in range(_TIMES)]
        statuses = {each.status for each in made}
        shapes = {_shape(each) for each in made}
        passing = any(each.retryable for each in made)
        return Refusal(
            probe=probe,
            status=made[0].status if len(statuses) == 1 and not passing else None,
            shape=_shape(made[0]) if len(shapes) == 1 and not passing else None,
        )

    @property
    def _planned(self) -> int:
        adds = _TIMES * len(self.canaries.sessions) + len(self.canaries.bystander)
        return adds + _TIMES**2 * len(self.canaries.queries)


def _probes(namespace: Namespace) -> Sequence[tuple[str, Operation, bytes]]:
    """Requests that nobody could take, so that nothing is stored by them."""
    user = namespace.user("refused")
    empty = {"request_id": namespace.request(), "user_id": user, "session_id": user}
    return (
        ("an Add without messages", "add", dump({**empty, "messages": []})),
        ("an Add that is no JSON", "add", b"{"),
        ("a Search without a query", "search", dump({"user_id": user, "top_k": 1})),
        ("a Search with top_k 0", "search", dump({"query": "?", "user_id": user, "top_k": 0})),
    )


def _shape(exchange: Exchange) -> str:
    kind = exchange.reply_headers.get("content-type", "").partition(";")[0]
    try:
        return f"{structure(exchange.json)} as {_KINDS.get(kind, 'another type')}"
    except NotStrictJSONError:
        return "no JSON"


_KINDS = {kind: kind for kind in ("application/json", "text/html", "text/plain")}


def _leaves(group: BaseExceptionGroup[BaseException]) -> Iterator[BaseException]:
    for error in group.exceptions:
        if isinstance(error, BaseExceptionGroup):
            yield from _leaves(error)
        else:
            yield error
