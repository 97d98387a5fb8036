"""Names: the invented words that values are, and finding them in what comes back.

A name belongs to one user, one slot and one value, and is no word of any language. Whoever
rewrites "my gym is Halmere now" keeps it, and whoever shows it to another user has leaked it.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

from aml_contract.namespace import Namespace

Kind = Literal["value", "other", "temporary", "plan"]
"""A value of the slot, or what is another person's, an exception, a mere plan."""

_WORD = re.compile(r"\w+")
_LEAST = 9
"""Letters of a name: enough for three syllables, which no English word has by chance."""
_HAN = 3
"""Characters of a Chinese name."""


@dataclass(frozen=True)
class Name:
    """An invented word and what it stands for; ``value`` counts the values of its slot."""

    word: str
    user: int
    slot: int
    kind: Kind
    value: int = 0


class Inventor:
    """Invents words that differ from all that it was told are taken."""

    def __init__(self, seed: int, run: str, user: int, code: str, taken: set[str]) -> None:
        self._source = Namespace(seed, run, f"probe/{user}")
        self._draw = self._han if code == "zh" else self._latin
        self._taken = taken

    def word(self) -> str:
        """A word that was not there before."""
        while True:
            word = self._draw()
            if word.casefold() not in self._taken:
                self._taken.add(word.casefold())
                return word

    def _latin(self) -> str:
        while len(word := self._source.word()) < _LEAST:
            pass
        return word.capitalize()

    def _han(self) -> str:
        return self._source.cjk_marker().words[0]


class Register:
    """All names of a world, and which of them a text mentions.

    Args:
        names: those to be found.
        code: the language; English names are whole words, Chinese ones stand between others.
    """

    def __init__(self, names: Iterable[Name], code: str) -> None:
        self._by_word: Mapping[str, Name] = {_folded(name.word): name for name in names}
        self._words = _triples if code == "zh" else _WORD.findall
        self._seen: dict[str, tuple[Name, ...]] = {}

    def mentions(self, text: str) -> tuple[Name, ...]:
        """The names in a text, in their order; case and width of letters aside."""
        if text not in self._seen:
            found = (self._by_word.get(word) for word in self._words(_folded(text)))
            self._seen[text] = tuple(name for name in found if name)
        return self._seen[text]


def _folded(text: str) -> str:
    return unicodedata.normalize("NFKC", text).casefold()


def _triples(text: str) -> Iterator[str]:
    return (text[start : start + _HAN] for start in range(len(text) - _HAN + 1))
