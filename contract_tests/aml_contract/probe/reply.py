"""A reply: what one Search returned, as far as it mentions names."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from aml_contract import tokens
from aml_contract.item import text_of
from aml_contract.probe.names import Name, Register


@dataclass(frozen=True)
class Item:
    """One search result: its text, and its time in seconds since 1970 if it has one."""

    content: str
    created: float | None = None


@dataclass(frozen=True)
class Shown:
    """An item as a reader of names sees it."""

    names: tuple[Name, ...]
    created: float | None
    content: str


@dataclass(frozen=True)
class Reply:
    """The items of one answer to a Search, best first."""

    items: tuple[Shown, ...]

    def ranks(self, user: int, slot: int) -> Iterator[tuple[int, Name]]:
        """Each mention of a value of this slot, with the rank of its item from 1."""
        for rank, item in enumerate(self.items, 1):
            for name in item.names:
                if (name.user, name.slot, name.kind) == (user, slot, "value"):
                    yield rank, name

    def first(self, names: Iterable[Name]) -> int | None:
        """The rank, from 1, of the first item that mentions one of these names."""
        wanted = set(names)
        return next(
            (n for n, item in enumerate(self.items, 1) if not wanted.isdisjoint(item.names)), None
        )


def reply_of(items: Sequence[Item], register: Register) -> Reply:
    """What a Search returned, with the names that are in it."""
    return Reply(
        tuple(Shown(register.mentions(item.content), item.created, item.content) for item in items)
    )


def item_of(raw: dict[str, Any]) -> Item:
    """An item of an answer in JSON; a ``created_at`` that is no time is none (clause S9)."""
    return Item(text_of(raw["content"]), _seconds(raw.get("created_at")))


def _seconds(created: Any) -> float | None:
    try:
        moment = datetime.fromisoformat(created)
    except (TypeError, ValueError):
        return None
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()


class Lengths:
    """o200k tokens of contents; each is counted once, however often it comes back."""

    def __init__(self) -> None:
        self._known: dict[str, int] = {}

    def of(self, content: str) -> int:
        """The tokens of a content."""
        if content not in self._known:
            self._known[content] = len(tokens.encode(content))
        return self._known[content]
