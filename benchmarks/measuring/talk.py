"""What is said and asked: LoCoMo as the platform sends it, over and over where much is needed."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator, Sequence
from pathlib import Path

from aml_contract.smoke.locomo import Conversation, read, shipped
from aml_contract.smoke.run import TOP_K, adds_of
from aml_sdk import AddRequest, SearchRequest

TUNED_ON = (26, 30)
"""The conversations on which constants of memories were chosen."""
REPORTED_ON = (41, 42, 43)
"""Those of which figures are published."""

USER = "user"
"""The user who says and asks most."""

_COPY = 200 * 86_400_000
"""Milliseconds between the copies of a conversation."""


def locomo(numbers: Sequence[int], data: Path) -> list[Conversation]:
    """The LoCoMo conversations with these numbers.

    Raises:
        MalformedFileError: one is missing, or no conversation.
    """
    return [found for number in numbers for found in read(data / "locomo" / f"conv-{number}.json")]


def small() -> list[Conversation]:
    """The conversation that comes with the kit: enough to see that a command works."""
    return read(shipped())


def said(conversation: Conversation, user: str) -> Iterator[AddRequest]:
    """The Adds of a conversation, in the platform's chunks."""
    return (AddRequest.model_validate(body) for body in adds_of(conversation, user))


def asked(conversations: Sequence[Conversation], user: str) -> Iterator[SearchRequest]:
    """The questions of all conversations, shuffled, without end."""
    texts = [question.text for each in conversations for question in each.questions]
    random.Random(0).shuffle(texts)
    return (SearchRequest(query=text, user_id=user, top_k=TOP_K) for text in itertools.cycle(texts))


def much(
    conversations: Sequence[Conversation], user: str, first: int, last: int
) -> Iterator[AddRequest]:
    """Messages ``first`` to ``last`` of one user who repeats the conversations without end.

    Each copy has sessions of its own, 200 days after those of the one before. Chunks are the
    platform's, but for those at the ends, which are cut.
    """
    begin = 0
    for add in _without_end(conversations, user):
        end = begin + len(add.messages)
        kept = add.messages[max(first - begin, 0) : last - begin]
        if end > first and kept:
            name = f"{add.request_id}:{max(first, begin)}"
            yield add.model_copy(update={"request_id": name, "messages": kept})
        begin = end
        if begin >= last:
            return


def _without_end(conversations: Sequence[Conversation], user: str) -> Iterator[AddRequest]:
    for copy in itertools.count():
        for conversation in conversations:
            for add in said(conversation, f"{user}:{copy}:{conversation.name}"):
                later = [
                    message.model_copy(update={"timestamp": message.timestamp + copy * _COPY})
                    for message in add.messages
                    if message.timestamp is not None
                ]
                yield add.model_copy(update={"user_id": user, "messages": later})


def body(request: AddRequest | SearchRequest) -> bytes:
    """The request as it is sent."""
    return request.model_dump_json(exclude_none=True).encode()


def dealt(adds: Sequence[AddRequest], users: int) -> list[list[AddRequest]]:
    """The Adds dealt out to so many users."""
    return [
        [add.model_copy(update={"user_id": f"user {number}"}) for add in adds[number::users]]
        for number in range(users)
    ]
