"""What the parts hand to each other: requests as validated, memories, replies."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


class RefusedError(Exception):
    """The request is answered with ``status`` and a reason without payload."""

    def __init__(self, status: int, reason: str) -> None:
        super().__init__(reason)
        self.status = status
        self.reason = reason


@dataclass(frozen=True)
class Message:
    """One turn as it is stored; ``timestamp`` in Unix milliseconds."""

    role: str
    content: str
    timestamp: int | None = None


@dataclass(frozen=True)
class Add:
    """A validated Add: the known fields only."""

    request_id: str
    user_id: str
    session_id: str
    messages: tuple[Message, ...]


@dataclass(frozen=True)
class Search:
    """A validated Search; ``query`` as one text."""

    query: str
    user_id: str
    top_k: int
    options: tuple[str, ...] = ()


@dataclass(frozen=True)
class Memory:
    """One stored message of one user."""

    id: str
    message: Message
    session_id: str
    words: frozenset[str]


@dataclass
class Reply:
    """What goes back: ``body`` is JSON unless it is bytes already."""

    status: int
    body: Any = None
    headers: dict[str, str] = field(default_factory=dict)
