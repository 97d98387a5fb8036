"""A namespace: ids and texts that no other rule, run or kit has ever used.

No delete endpoint exists (clause L3), so nothing is cleaned up; runs must not meet
instead. Everything is a function of the seed, the run's salt and the rule's name, so
that a finding can be repeated with ``--seed`` although each run has fresh ids.
"""

from __future__ import annotations

import hashlib
import random
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product

_ONSETS = (
    "b",
    "br",
    "ch",
    "d",
    "dr",
    "f",
    "fl",
    "g",
    "gl",
    "h",
    "j",
    "k",
    "kr",
    "l",
    "m",
    "n",
    "p",
    "pl",
    "qu",
    "r",
    "s",
    "sh",
    "sk",
    "st",
    "t",
    "th",
    "tr",
    "v",
    "w",
    "z",
)
_VOWELS = ("a", "e", "i", "o", "u", "ai", "ea", "oo", "au")
_CODAS = ("b", "d", "g", "k", "l", "m", "n", "nd", "ng", "p", "r", "rn", "s", "sk", "st", "t", "x")
_SYLLABLES = ["".join(sounds) for sounds in product(_ONSETS, _VOWELS, _CODAS)]
_HAN = (
    "岚嵩沄泷渌漪濂瑄琬璎珩瑾砚碧竺箬纨绮翎芷苓茗荃莳菖蓼蔚薇蘅虬蜃衿裾觥谌豫"
    "赭跹轩邃郗酥醴钰铎锷阙隽雳霓霁靛鞅韫颀飒饴馥骁鬃鲲鸢鸾鹂麒黛"
)
_SENTENCES = (
    (
        "The {0} {1} keeps a {2} near the {3} because {4} once traded {5} for {6} at {7}.",
        "Why does the {0} {1} keep a {2} near the {3}?",
    ),
    (
        "My cousin {0} from {1} repairs every {2} with {3} and {4}, says old {5}, never {6} {7}.",
        "What does cousin {0} from {1} repair with {3} and {4}?",
    ),
    (
        "Last winter we drove to {0}, ate {1} under the {2} and lost our {3} {4} to {5} {6} {7}.",
        "What was lost after the drive to {0} and the {1} under the {2}, our {3} {4}?",
    ),
    (
        "Doctor {0} prescribed {1} twice a day, not {2}, since {3} {4} gave me {5} in {6} and {7}.",
        "What did doctor {0} prescribe instead of {2}, and why not {3} {4}?",
    ),
    (
        "For the wedding {0} {1} booked the {2} hall; {3} plays {4}, {5} bakes, {6} brings {7}.",
        "Who plays {4} at the wedding that {0} {1} booked the {2} hall for?",
    ),
)
_TALES = (
    "For the {about}, {0} {1} brought {2} and {3} from {4}, then sold the {5} {6} to {7}.",
    "{0} quarrelled with {1} over the {about}: too much {2}, hardly any {3}; {4} {5} {6} {7} left.",
    "Grandmother {0} painted the {about} in {1} and {2}, while {3} slept beside {4} {5} {6} {7}.",
    "Nobody at {0} had heard of the {about} until {1} {2} wrote a {3} on it with {4} {5} {6} {7}.",
    "We lost the {about} on a ferry to {0}; {1} {2} found it in {3}, wet, with {4} {5} {6} {7} on.",
)


@dataclass(frozen=True)
class Marker:
    """A sentence that differs from every other marker in many words.

    Systems fold near-duplicates and key on beginnings, so "marker 1" and "marker 2"
    would accuse them wrongly. ``query`` shares words with ``text``: a lexical system
    finds nothing without overlap.
    """

    text: str
    query: str
    words: tuple[str, ...] = ()
    """The invented words that no other marker has: whoever shows several shows this one."""

    def shown_by(self, contents: Sequence[str], *, verbatim: bool = True) -> list[int]:
        """Which of ``contents`` show this marker, white space and case aside; none if it is lost.

        Contained, not equal: dates, names and neighbours around it are fine. A system
        that rewrites what it stores (``verbatim`` false) may make several facts of a
        sentence: together they keep at least half the words.
        """
        if verbatim or not self.words:
            text = squeeze(self.text)
            return [n for n, content in enumerate(contents) if text in squeeze(content)]
        facts = [n for n, content in enumerate(contents) if self.words_in(content)]
        kept = self.words_in("\n".join(contents[n] for n in facts))
        return facts if 2 * kept >= len(self.words) else []

    def leaks_into(self, content: str) -> bool:
        """Whether ``content`` was made from this marker: three of its words are enough."""
        return self.words_in(content) >= min(3, len(self.words))

    def words_in(self, content: str) -> int:
        """How many of the invented words ``content`` holds."""
        text = squeeze(content)
        return sum(word in text for word in self._squeezed)

    @cached_property
    def _squeezed(self) -> tuple[str, ...]:
        return tuple(map(squeeze, self.words))


@dataclass(frozen=True)
class Topic:
    """Markers that one query finds: they share its words and differ in all others.

    So one Search per user tells both whether its own memory is there and whether
    another's is, on systems that match words as well as on those that match meaning.
    """

    query: str
    markers: tuple[Marker, ...]
    about: tuple[str, ...]
    """The invented words of the thing itself, which the query and all markers hold."""


def squeeze(text: str) -> str:
    """Without white space and case: for telling whether something is there at all."""
    return "".join(text.split()).casefold()


class Namespace:
    """Ids and markers for one rule of one run.

    Args:
        seed: chooses the words; the same seed gives the same course of a run.
        salt: unique to the run; keeps runs on one store apart.
        scope: the rule's name.
    """

    def __init__(self, seed: int, salt: str, scope: str) -> None:
        self._tag = hashlib.sha256(f"{seed}/{salt}/{scope}".encode()).hexdigest()[:12]
        self.random = random.Random(f"{seed}/{salt}/{scope}")  # noqa: S311  not a secret
        self._count = 0

    def user(self, label: str = "user") -> str:
        """A fresh user id in the documented shape (clause A1's example has colons)."""
        return f"eval:aml-{self._tag}:{label}-{self._next()}"

    def request(self) -> str:
        """A fresh request id in the documented shape."""
        return f"eval:aml-{self._tag}:chunk-{self._next()}"

    def session(self) -> str:
        """A fresh session id."""
        return f"eval:aml-{self._tag}:session-{self._next()}"

    def word(self) -> str:
        """An invented word of two or three syllables."""
        return "".join(self.random.choices(_SYLLABLES, k=self.random.choice((2, 2, 3))))

    def filler(self, length: int) -> str:
        """Invented words, exactly ``length`` characters of them."""
        words, size = [], 0
        while size < length:
            words.append(self.word())
            size += len(words[-1]) + 1
        return " ".join(words)[:length]

    def padded(self, marker: Marker, length: int) -> str:
        """The marker, followed by invented words up to ``length`` characters."""
        return f"{marker.text} {self.filler(length - len(marker.text) - 1)}"

    def marker(self) -> Marker:
        """A sentence of ordinary grammar around eight invented words."""
        text, query = self.random.choice(_SENTENCES)
        w = [self.word() for _ in range(8)]
        return Marker(text.format(*w), query.format(*w), tuple(w))

    def topic(self, count: int) -> Topic:
        """``count`` markers about one thing, each told with eight words of its own."""
        words = tuple(self.word() for _ in range(3))
        about = " ".join(words)

        def marker(number: int) -> Marker:
            text = _TALES[number % len(_TALES)]
            own = [self.word() for _ in range(8)]
            return Marker(text.format(*own, about=about), query, tuple(own))

        query = f"What happened with the {about}?"
        return Topic(query, tuple(marker(number) for number in range(count)), words)

    def cjk_marker(self) -> Marker:
        """A Chinese sentence around invented names of rare characters."""
        w = ["".join(self.random.choices(_HAN, k=3)) for _ in range(4)]
        text = f"{w[0]}把{w[1]}放在{w[2]}的抽屉里，后来又送给了{w[3]}。"
        return Marker(text, f"{w[0]}把{w[1]}放在哪里？", tuple(w))

    def _next(self) -> int:
        self._count += 1
        return self._count
