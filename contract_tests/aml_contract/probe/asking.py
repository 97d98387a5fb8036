"""The course of a probe: lives are sent session by session, and asked about after each period.

Users go side by side, in step: all hold their n-th session before any holds the next, so that
whatever they share meets in the same order in every run.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import zip_longest
from typing import Any, NamedTuple

from aml_contract.probe.memory import Memory, search_body, user_id
from aml_contract.probe.reply import Reply, reply_of
from aml_contract.probe.sessions import Message, Session
from aml_contract.probe.world import Mode, Question, User, World


class Place(NamedTuple):
    """Where a value was told or asked for."""

    user: int
    period: int
    slot: int


@dataclass(frozen=True)
class Asked:
    """A question that was asked at the end of a period, and what came back."""

    user: int
    period: int
    question: Question
    reply: Reply


@dataclass
class Record:
    """What a probe has seen."""

    visible: dict[Place, bool] = field(default_factory=dict)
    """Whether a value was found by its own words right after its Add."""
    asked: list[Asked] = field(default_factory=list)
    still: dict[Place, bool] = field(default_factory=dict)
    """Whether a current value was found at the end of a period, by its own words if by nothing
    else. What a question found at once was not asked for again."""
    foreign: set[int] = field(default_factory=set)
    """Users whose names were shown to others."""
    leaks: dict[int, int] = field(default_factory=dict)
    """By user: replies with a name of another user."""
    replies_of: dict[int, int] = field(default_factory=dict)
    """By user: replies."""


class Course:
    """One course of one memory through a world.

    Args:
        world: who is there and what they say.
        memory: what is probed.
        modes: how questions are put.
        together: requests in flight at most.
        step: called after each round of sessions.
    """

    def __init__(
        self,
        world: World,
        memory: Memory,
        modes: Sequence[Mode],
        *,
        together: int = 1,
        step: Callable[[], None] = lambda: None,
    ) -> None:
        self._world = world
        self._memory = memory
        self._modes = modes
        self._places = asyncio.Semaphore(together)
        self._step = step
        self._sent = [0] * len(world.users)
        self.record = Record()

    @property
    def rounds(self) -> int:
        """How often ``step`` will be called."""
        periods = zip(*(user.sessions for user in self._world.users), strict=True)
        return sum(max(map(len, period)) for period in periods)

    async def run(self) -> Record:
        """Send everything and ask everything."""
        for period in range(self._world.parameters.periods + 1):
            told = [user.sessions[period] for user in self._world.users]
            for sessions in zip_longest(*told):
                held = zip(self._world.users, sessions, strict=True)
                await self._all(
                    partial(self._hold, user, session)
                    for user, session in held
                    if session is not None
                )
                self._step()
            await self._all(
                partial(self._ask, user, period, question)
                for user in self._world.users
                for question in self._world.questions(user, self._modes)
            )
            await self._all(
                partial(self._look, user, period, slot)
                for user in self._world.users
                for slot in range(self._world.parameters.slots)
            )
        # In the order of asking, not in that of answers.
        self.record.asked.sort(key=lambda a: (a.period, a.user, a.question.mode, a.question.slots))
        return self.record

    async def _all(self, work: Iterable[Callable[[], Awaitable[None]]]) -> None:
        """Do it side by side; the first error ends the rest."""

        async def placed(job: Callable[[], Awaitable[None]]) -> None:
            async with self._places:
                await job()

        try:
            async with asyncio.TaskGroup() as group:
                for job in work:
                    group.create_task(placed(job))
        except ExceptionGroup as several:
            raise _first(several) from None

    async def _hold(self, user: User, session: Session) -> None:
        number = self._sent[user.number]
        self._sent[user.number] += 1
        named = user_id(self._world.run, user.number)
        await self._memory.add(add_body(named, number, session.messages))
        if session.change and session.name:
            reply = await self._search(user, session.sentence)
            found = reply.first([session.name]) is not None
            place = Place(user.number, session.period, session.change.slot)
            self.record.visible[place] = found

    async def _ask(self, user: User, period: int, question: Question) -> None:
        reply = await self._search(user, question.text)
        self.record.asked.append(Asked(user.number, period, question, reply))
        for slot in question.slots:
            if reply.first([user.name(slot, user.current(period, slot))]) is not None:
                self.record.still[Place(user.number, period, slot)] = True

    async def _look(self, user: User, period: int, slot: int) -> None:
        """Ask by its own words for a value that no question of this period found."""
        place = Place(user.number, period, slot)
        if self.record.still.get(place):
            return
        evidence = user.evidence(period, slot)
        assert evidence.name is not None
        reply = await self._search(user, evidence.sentence)
        self.record.still[place] = reply.first([evidence.name]) is not None

    async def _search(self, user: User, query: str) -> Reply:
        body = search_body(query, user_id(self._world.run, user.number))
        reply = reply_of(await self._memory.search(body), self._world.register)
        record, number = self.record, user.number
        others = {name.user for item in reply.items for name in item.names} - {number}
        record.foreign |= others
        record.leaks[number] = record.leaks.get(number, 0) + bool(others)
        record.replies_of[number] = record.replies_of.get(number, 0) + 1
        return reply


def add_body(user: str, number: int, messages: Sequence[Message]) -> dict[str, Any]:
    """The Add of a user's n-th session."""
    return {
        "request_id": f"{user}:chunk-{number}",
        "user_id": user,
        "session_id": f"{user}:session-{number}",
        "messages": [
            {"role": each.role, "content": each.content, "timestamp": each.timestamp}
            for each in messages
        ],
    }


def _first(error: BaseException) -> BaseException:
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error
