"""What memories are compared with: full text search, BM25, and chance.

Each is a memory system like any other, which forgets everything at exit:
``aml serve benchmarks.baselines:BM25`` serves one.
"""

from __future__ import annotations

import random
import re
import sqlite3
from abc import abstractmethod
from collections.abc import Callable, Sequence
from typing import NamedTuple

import bm25s
import numpy as np
import snowballstemmer

from aml_adapters.hybrid.tokens import STOP_WORDS
from aml_sdk import AddRequest, Memory, MemorySystem, SearchRequest
from aml_sdk.content import event_time, text_of
from aml_sdk.identity import memory_id

K1, B = 1.2, 0.75
"""BM25's usual constants, which are also those of SQLite's ``bm25()``."""


class Said(NamedTuple):
    """A message of a user."""

    id: str
    session: str
    time: int | None
    text: str


Rank = Callable[[str], Sequence[int]]
"""From a question to places in a list of messages, best first."""


class Baseline(MemorySystem):
    """Keeps each message, and indexes a user's at the first question, with their statistics only.

    Not for several threads at once.
    """

    def __init__(self) -> None:
        self._said: dict[str, list[Said]] = {}
        self._ranks: dict[str, Rank] = {}

    def add(self, request: AddRequest) -> None:
        """Keep the messages until the next question."""
        user = request.user_id
        self._ranks.pop(user, None)
        self._said.setdefault(user, []).extend(
            Said(
                memory_id(user, request.request_id, position),
                request.session_id,
                message.timestamp,
                text_of(message.content),
            )
            for position, message in enumerate(request.messages)
        )

    def search(self, request: SearchRequest) -> list[Memory]:
        """The user's messages in the order in which they are ranked."""
        said = self._said.get(request.user_id, [])
        if not said:
            return []
        if request.user_id not in self._ranks:
            self._ranks[request.user_id] = self._indexed(said)
        rows = self._ranks[request.user_id](text_of(request.query))[: request.top_k]
        return [Memory(id=said[row].id, content=said[row].text) for row in rows]

    @abstractmethod
    def _indexed(self, said: Sequence[Said]) -> Rank:
        """Index the messages of a user."""


class FTS5(Baseline):
    """SQLite's full text search: Porter stems, the question's stop words dropped, any word."""

    def _indexed(self, said: Sequence[Said]) -> Rank:
        # Searches are asked on other threads than the one that indexes, one at a time.
        database = sqlite3.connect(":memory:", check_same_thread=False)
        database.execute("CREATE VIRTUAL TABLE said USING fts5(text, tokenize = 'porter')")
        texts = ((text,) for text in self._texts(said))
        database.executemany("INSERT INTO said (text) VALUES (?)", texts)

        def rank(question: str) -> list[int]:
            words = re.findall(r"\w+", question.lower())
            wanted = [word for word in words if word not in STOP_WORDS] or words
            if not wanted:
                return []  # nothing but punctuation, which is not indexed
            found = database.execute(
                "SELECT rowid FROM said WHERE said MATCH ? ORDER BY bm25(said), rowid",
                (" OR ".join(f'"{word}"' for word in wanted),),
            )
            return [row - 1 for (row,) in found]

        return rank

    def _texts(self, said: Sequence[Said]) -> list[str]:
        """What is indexed of each message."""
        return [each.text for each in said]


class FTS5Windows(FTS5):
    """The same, each message indexed with its neighbours and the date of its session."""

    def _texts(self, said: Sequence[Said]) -> list[str]:
        dates: dict[str, str] = {}
        for each in said:
            moment = event_time(each.time)
            dates.setdefault(each.session, "" if moment is None else f"{moment:%d %B %Y}")
        return [
            "\n".join(
                [
                    dates[each.session].lstrip("0"),
                    *(
                        near.text
                        for near in said[max(place - 1, 0) : place + 2]
                        if near.session == each.session
                    ),
                ]
            )
            for place, each in enumerate(said)
        ]


class BM25(Baseline):
    """BM25 as textbooks have it, by the library bm25s.

    A word is two letters or digits at least, in lower case; English stop words are dropped, and
    Porter's stems taken. Statistics are of one user.
    """

    def _indexed(self, said: Sequence[Said]) -> Rank:
        index = bm25s.BM25(k1=K1, b=B, method="lucene")
        index.index(_words([each.text for each in said]), show_progress=False)

        def rank(question: str) -> list[int]:
            [words] = _words([question])
            scores = index.get_scores_from_ids(index.get_tokens_ids(words))
            order: list[int] = np.argsort(-scores, kind="stable").tolist()
            return order

        return rank


class Chance(Baseline):
    """The user's messages shuffled, for each question anew: what to find means without looking."""

    def _indexed(self, said: Sequence[Said]) -> Rank:
        def rank(question: str) -> list[int]:
            return random.Random(question).sample(range(len(said)), len(said))

        return rank


def _words(texts: list[str]) -> list[list[str]]:
    stemmer = snowballstemmer.stemmer("porter")
    words: list[list[str]] = bm25s.tokenize(
        texts, stopwords="en", stemmer=stemmer, return_ids=False, show_progress=False
    )
    return words
