"""What the answer model reads of a Search's results: their beginning (clause S14)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from aml_contract import tokens

_BETWEEN = "\n\n"


@dataclass(frozen=True)
class Prefix:
    """The results as one text, cut where the budget ends."""

    text: str
    tokens: int
    """o200k tokens in it."""
    unread: int
    """Items that are cut, or not reached at all."""


def prefix_of(contents: Sequence[str], budget: int = tokens.ANSWER_BUDGET) -> Prefix:
    """The contents in their order, up to so many tokens; the last may be cut within."""
    read: list[int] = []
    for number, content in enumerate(contents):
        encoded = tokens.encode(f"{_BETWEEN}{content}" if number else content)
        room = budget - len(read)
        read += encoded[:room]
        if len(encoded) > room:
            return Prefix(tokens.decode(read), len(read), len(contents) - number)
    return Prefix(tokens.decode(read), len(read), 0)
