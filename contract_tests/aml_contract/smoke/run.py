"""Sending conversations as the platform would, and asking their questions.

First every Add: serial for one user, users side by side. Then every Search. Answers that
may be retried are sent again as often as the platform would (clause F1).
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol, TypeVar

from aml_contract.body import dump
from aml_contract.endpoint.protocol import Endpoint
from aml_contract.endpoint.retry import send_again
from aml_contract.exchange import Exchange, Operation
from aml_contract.smoke import answers
from aml_contract.smoke.choices import Choices, choices_of
from aml_contract.smoke.chunking import chunks, messages_of
from aml_contract.smoke.locomo import Conversation, Question

_Work = TypeVar("_Work")

Stage = Literal["add", "search", "answer"]

TOP_K = 100
"""What formal runs send (clause S3)."""
TRIES: dict[Operation, int] = {"add": 32, "search": 6}
"""Requests for one logical operation at most (clause F1)."""


class Observer(Protocol):
    """Told how far the run is."""

    def started(self, stage: Stage, total: int) -> None:
        """A stage of ``total`` requests begins."""
        ...

    def done(self, stage: Stage) -> None:
        """One more request was answered well."""
        ...

    def waiting(self, text: str) -> None:
        """A request will be sent again; says why and when."""
        ...


@dataclass(frozen=True)
class Settings:
    """How a run goes.

    Attributes:
        run: makes the ids unique; no two runs on one store may share it.
        seed: the order in which questions are asked, and which, if not all.
        concurrency: users, and then Searches, that are served side by side.
        questions: of each conversation at most; all if ``None``.
        patience: scales the waits between tries.
        multiple_choice: whether questions are asked with options, as far as they have answers.
    """

    run: str
    seed: int = 0
    concurrency: int = 16
    questions: int | None = None
    patience: float = 1.0
    multiple_choice: bool = False


@dataclass(frozen=True)
class Answer:
    """What came back for one question."""

    conversation: Conversation
    question: Question
    contents: tuple[str, ...]
    choices: Choices | None = None
    """The options that were sent, if some were."""


@dataclass
class Record:
    """What a run has seen so far; it stays readable when the run is cut short."""

    messages: int = 0
    adds: list[float] = field(default_factory=list)
    """Seconds of each acknowledged Add."""
    searches: list[float] = field(default_factory=list)
    retries: int = 0
    """Requests that were sent again."""
    answers: list[Answer] = field(default_factory=list)
    planned_adds: int = 0
    planned_searches: int = 0

    @property
    def complete(self) -> bool:
        """Whether everything that was planned was answered well."""
        done = (len(self.adds), len(self.searches))
        return self.planned_adds > 0 and done == (self.planned_adds, self.planned_searches)


class SmokeRun:
    """One run over some conversations at one endpoint."""

    def __init__(
        self,
        endpoint: Endpoint,
        conversations: Sequence[Conversation],
        settings: Settings,
        observer: Observer,
    ) -> None:
        self._endpoint = endpoint
        self._settings = settings
        self._observer = observer
        users = list(zip(user_ids(conversations, settings.run), conversations, strict=True))
        self._adds = [list(adds_of(conversation, user)) for user, conversation in users]
        self._questions = list(_chosen(users, settings))
        self.record = Record(
            planned_adds=sum(len(adds) for adds in self._adds),
            planned_searches=len(self._questions),
        )

    async def run(self) -> Record:
        """Send everything.

        Raises:
            ContractBrokenError: an answer that would end the platform's stage.
        """
        self._observer.started("add", self.record.planned_adds)
        await self._side_by_side(self._adds, self._feed)
        self._observer.started("search", self.record.planned_searches)
        await self._side_by_side(self._questions, self._ask)
        return self.record

    async def _side_by_side(
        self, work: Iterable[_Work], job: Callable[[_Work], Awaitable[None]]
    ) -> None:
        left = iter(work)

        async def worker() -> None:
            for each in left:
                await job(each)

        try:
            async with asyncio.TaskGroup() as group:
                for _ in range(self._settings.concurrency):
                    group.create_task(worker())
        except ExceptionGroup as several:
            # One broken answer stops all workers; several at once say no more than one.
            broken = several.subgroup(answers.ContractBrokenError)
            if broken is None:
                raise
            raise _first(broken) from None

    async def _feed(self, adds: Sequence[dict[str, Any]]) -> None:
        for body in adds:
            exchange, tries = await self._send("add", body)
            answers.check_add(exchange, tries, body)
            self.record.adds.append(exchange.seconds)
            self.record.messages += len(body["messages"])
            self._observer.done("add")

    async def _ask(self, asked: _Asked) -> None:
        body = {"query": asked.question.text, "user_id": asked.user, "top_k": TOP_K}
        if asked.choices:
            body["options"] = asked.choices.options
        exchange, tries = await self._send("search", body)
        contents = answers.contents(exchange, tries, TOP_K)
        self.record.searches.append(exchange.seconds)
        self.record.answers.append(
            Answer(asked.conversation, asked.question, tuple(contents), asked.choices)
        )
        self._observer.done("search")

    async def _send(self, operation: Operation, body: dict[str, Any]) -> tuple[Exchange, int]:
        data = dump(body)
        tries = 0

        async def once(attempt: int) -> Exchange:
            nonlocal tries
            tries = attempt
            exchange = await self._endpoint.send(operation, data, fresh=attempt > 1)
            process = self._endpoint.process
            if exchange.status is None and process and (died := process.died):
                raise answers.ContractBrokenError(died, "F3", exchange)
            return exchange

        def waiting(exchange: Exchange, attempt: int, seconds: float) -> None:
            self.record.retries += 1
            self._observer.waiting(
                f"{operation.capitalize()}: {exchange.summary}; "
                f"try {attempt + 1} of {TRIES[operation]} in {seconds:.1f} s"
            )

        exchange = await send_again(
            once, attempts=TRIES[operation], patience=self._settings.patience, waiting=waiting
        )
        return exchange, tries


def user_ids(conversations: Iterable[Conversation], run: str) -> list[str]:
    """One fresh user for each conversation, with colons as real ids have (clause A2)."""
    made: list[str] = []
    for conversation in conversations:
        user = f"eval:{run}:locomo:{conversation.name}"
        made.append(user if user not in made else f"{user}:{len(made)}")
    return made


def adds_of(conversation: Conversation, user: str) -> Iterator[dict[str, Any]]:
    """The Add bodies of a conversation, in order."""
    number = 0
    for session in conversation.sessions:
        for chunk in chunks(messages_of(session)):
            yield {
                "request_id": f"{user}:chunk-{number}",
                "user_id": user,
                "session_id": f"{user}:session-{session.name}",
                "messages": [
                    {"role": "user", "content": m.content, "timestamp": m.timestamp} for m in chunk
                ],
            }
            number += 1


@dataclass(frozen=True)
class _Asked:
    user: str
    conversation: Conversation
    question: Question
    choices: Choices | None


def _chosen(users: Sequence[tuple[str, Conversation]], settings: Settings) -> Iterator[_Asked]:
    """The questions in the order in which they are asked."""
    chance = random.Random(settings.seed)  # noqa: S311  not a secret
    made: list[_Asked] = []
    for user, conversation in users:
        questions = list(conversation.questions)
        chance.shuffle(questions)
        for question in questions[: settings.questions]:
            choices = None
            if settings.multiple_choice:
                choices = choices_of(question, conversation.questions, settings.seed)
            made.append(_Asked(user, conversation, question, choices))
    chance.shuffle(made)
    return iter(made)


def _first(broken: BaseException) -> BaseException:
    while isinstance(broken, BaseExceptionGroup):
        broken = broken.exceptions[0]
    return broken
