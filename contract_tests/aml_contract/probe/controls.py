"""Controls: memories in this process whose figures are known, or known to be ordinary.

``oracle`` knows what is true and returns nothing else; ``random`` shuffles a user's messages for
each question; ``recency`` returns the newest first; ``bm25`` matches words. Every one finds a
message by its own words, so that what they fail at is answering questions.
"""

from __future__ import annotations

import random
import re
from abc import ABC, abstractmethod
from collections import defaultdict
from collections.abc import Callable, Sequence
from typing import Any

from aml_contract.probe.memory import user_id
from aml_contract.probe.reply import Item
from aml_contract.probe.world import MODES, World

K1, B = 1.2, 0.75
"""BM25's usual constants."""
TOKENISERS = {
    "en": "words of two letters or digits at least in lower case, English stop words dropped, "
    "no stems",
    "zh": "single characters and pairs of neighbours",
}
"""What BM25 takes for words, by language."""


class Control(ABC):
    """Keeps each message with its time."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._kept: defaultdict[str, list[Item]] = defaultdict(list)

    async def add(self, body: dict[str, Any]) -> None:
        """Keep the messages."""
        self._kept[body["user_id"]] += [
            Item(message["content"], message["timestamp"] / 1000) for message in body["messages"]
        ]

    async def search(self, body: dict[str, Any]) -> Sequence[Item]:
        """What holds the query word for word, else what the control takes for an answer."""
        kept = self._kept[body["user_id"]]
        said = [item for item in kept if body["query"] in item.content]
        return (said or self._answer(body["user_id"], body["query"], kept))[: body["top_k"]]

    @abstractmethod
    def _answer(self, user: str, query: str, kept: Sequence[Item]) -> Sequence[Item]:
        """Items for a question, best first."""


class Oracle(Control):
    """Knows which slots each question is about and their values now, and says these only."""

    def __init__(self, world: World) -> None:
        super().__init__(world)
        self._slots, self._changes = {}, {}
        for user in world.users:
            named = user_id(world.run, user.number)
            for question in world.questions(user, MODES):
                self._slots[named, question.text] = question.slots
            for session in (session for told in user.sessions for session in told):
                if session.change and session.name:
                    told_in = (named, session.messages[0].timestamp)
                    self._changes[told_in] = (session.change.slot, session.name.word)
        self._now: dict[tuple[str, int], Item] = {}

    async def add(self, body: dict[str, Any]) -> None:
        """Keep what is true from now on."""
        await super().add(body)
        at = body["messages"][0]["timestamp"]
        if change := self._changes.get((body["user_id"], at)):
            slot, word = change
            self._now[body["user_id"], slot] = Item(word, at / 1000)

    def _answer(self, user: str, query: str, kept: Sequence[Item]) -> Sequence[Item]:
        del kept
        slots = self._slots[user, query]
        return [self._now[user, slot] for slot in slots]


class Shuffled(Control):
    """Chance: every message is as likely to be anywhere, for each question anew."""

    def __init__(self, world: World) -> None:
        super().__init__(world)
        self._asked: defaultdict[str, int] = defaultdict(int)

    def _answer(self, user: str, query: str, kept: Sequence[Item]) -> Sequence[Item]:
        # The run's names are in the user's id: chance is to be the same in every run.
        self._asked[user] += 1
        number = user.rpartition("-")[2]
        chance = random.Random(f"{self._world.seed}/{number}/{query}/{self._asked[user]}")  # noqa: S311
        return chance.sample(kept, len(kept))


class Recency(Control):
    """The newest first, whatever is asked."""

    def _answer(self, user: str, query: str, kept: Sequence[Item]) -> Sequence[Item]:
        del user, query
        return kept[::-1]


class BM25(Control):
    """Full text search as textbooks have it, by the library bm25s; statistics are of one user."""

    def __init__(self, world: World) -> None:
        super().__init__(world)
        self._indexed: dict[str, tuple[int, Any]] = {}

    def _answer(self, user: str, query: str, kept: Sequence[Item]) -> Sequence[Item]:
        if not kept:
            return []
        import numpy as np  # noqa: PLC0415  see below

        size, index = self._indexed.get(user, (0, None))
        if size != len(kept):
            index = self._index(kept)
            self._indexed[user] = (len(kept), index)
        [words] = self._words([query])
        scores = index.get_scores_from_ids(index.get_tokens_ids(words))
        order = np.argsort(-scores, kind="stable")
        return [kept[place] for place in order if scores[place] > 0]

    def _index(self, kept: Sequence[Item]) -> Any:
        # Imported late: no other command needs it, and it is of an extra of its own.
        import bm25s  # noqa: PLC0415  see above

        index = bm25s.BM25(k1=K1, b=B, method="lucene")
        index.index(self._words([item.content for item in kept]), show_progress=False)
        return index

    def _words(self, texts: Sequence[str]) -> list[list[str]]:
        import bm25s  # noqa: PLC0415  see above

        if self._world.code == "zh":
            return [_pairs(text) for text in texts]
        words: list[list[str]] = bm25s.tokenize(
            list(texts), stopwords="en", return_ids=False, show_progress=False
        )
        return words


_KINDS: dict[str, Callable[[World], Control]] = {
    "oracle": Oracle,
    "random": Shuffled,
    "recency": Recency,
    "bm25": BM25,
}
CONTROLS = tuple(_KINDS)


def control(name: str, world: World) -> Control:
    """The control of this name, one of :data:`CONTROLS`."""
    return _KINDS[name](world)


def _pairs(text: str) -> list[str]:
    made = []
    for run in re.findall(r"\w+", text.casefold()):
        made += [*run, *(run[n : n + 2] for n in range(len(run) - 1))]
    return made
