"""A namespace: ids and texts that no other rule, run or kit has ever used.

No delete endpoint exists (clause L3), so nothing is cleaned up; runs must not meet
instead. Everything is a function of the seed, the run's salt and the rule's name, so
that a finding can be repeated with ``--seed`` although each run has fresh ids.
"""

from __future__ import annotations

import hashlib
import random
from dataclasses import dataclass

_ONSETS = "b br ch d dr f fl g gl h j k kr l m n p pl qu r s sh sk st t th tr v w z".split()
_VOWELS = "a e i o u ai ea oo au".split()
_CODAS = "b d g k l m n nd ng p r rn s sk st t x".split()
_HAN = "岚嵩沄泷渌漪濂瑄琬璎珩瑾砚碧竺箬纨绮翎芷苓茗荃莳菖蓼蔚薇蘅虬蜃衿裾觥谌豫赭跹轩邃郗酥醴钰铎锷阙隽雳霓霁靛鞅韫颀飒饴馥骁鬃鲲鸢鸾鹂麒黛"


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

    def shown_in(self, content: str, *, verbatim: bool = True) -> bool:
        """Whether ``content`` holds this marker, white space and case aside.

        Contained, not equal: dates, names and neighbours around it are fine. A system
        that rewrites what it stores (``verbatim`` false) keeps at least half the words.
        """
        if verbatim or not self.words:
            return squeeze(self.text) in squeeze(content)
        return 2 * self.words_in(content) >= len(self.words)

    def leaks_into(self, content: str) -> bool:
        """Whether ``content`` was made from this marker: three of its words are enough."""
        return self.words_in(content) >= min(3, len(self.words))

    def words_in(self, content: str) -> int:
        """How many of the invented words ``content`` holds."""
        text = squeeze(content)
        return sum(squeeze(word) in text for word in self.words)


@dataclass(frozen=True)
class Topic:
    """Markers that one query finds: they share its words and differ in all others.

    So one Search per user tells both whether its own memory is there and whether
    another's is, on systems that match words as well as on those that match meaning.
    """

    query: str
    markers: tuple[Marker, ...]


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
        pick = self.random.choice
        syllables = [pick(_ONSETS) + pick(_VOWELS) + pick(_CODAS) for _ in range(pick((2, 2, 3)))]
        return "".join(syllables)

    def marker(self) -> Marker:
        """A sentence of ordinary grammar around eight invented words."""
        w = [self.word() for _ in range(8)]
        text = (
            f"The {w[0]} {w[1]} keeps a {w[2]} near the {w[3]} because {w[4].capitalize()} "
            f"once traded {w[5]} for {w[6]} at {w[7].capitalize()}."
        )
        query = f"Why does the {w[0]} {w[1]} keep a {w[2]} near the {w[3]}?"
        return Marker(text, query, tuple(w))

    def topic(self, count: int) -> Topic:
        """``count`` markers about one thing, each told with eight words of its own."""
        w = [self.word() for _ in range(3)]

        def marker() -> Marker:
            own = [self.word() for _ in range(8)]
            text = (
                f"For the {w[0]} {w[1]} {w[2]}, {own[0].capitalize()} {own[1].capitalize()} "
                f"brought {own[2]} and {own[3]} from {own[4].capitalize()}, then sold the "
                f"{own[5]} {own[6]} to {own[7].capitalize()}."
            )
            return Marker(text, query, tuple(own))

        query = f"Who brought what for the {w[0]} {w[1]} {w[2]}?"
        return Topic(query, tuple(marker() for _ in range(count)))

    def cjk_marker(self) -> Marker:
        """A Chinese sentence around invented names of rare characters."""
        w = ["".join(self.random.choices(_HAN, k=3)) for _ in range(4)]
        text = f"{w[0]}把{w[1]}放在{w[2]}的抽屉里，后来又送给了{w[3]}。"
        return Marker(text, f"{w[0]}把{w[1]}放在哪里？", tuple(w))

    def _next(self) -> int:
        self._count += 1
        return self._count
