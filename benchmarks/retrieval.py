"""How much of the evidence comes back: the hybrid memory beside SQLite's own full text search.

    python benchmarks/retrieval.py 41 42 43

reads LoCoMo conversations from ``AML_DATA_DIR/locomo``, gives both the same messages in the
platform's form, asks every question that has evidence, and prints recall of evidence turns
among the first 5, 10, 20 and 100 items, and the mean reciprocal rank of the first. The hybrid
memory was tuned on conversations 26 and 30 only; report the other three. Times are of the
CPU, which a busy machine does not distort.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import sqlite3
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from aml_adapters.hybrid import HybridMemory
from aml_adapters.hybrid.tokens import STOP_WORDS
from aml_contract.smoke.chunking import Message as Turn
from aml_contract.smoke.chunking import chunks, messages_of
from aml_contract.smoke.locomo import Conversation, read
from aml_sdk._gen.models import AddRequest, Message, SearchRequest

DEPTHS = (5, 10, 20, 100)


class Memory(Protocol):
    """What is measured: it stores one user's chunks and answers with contents."""

    def add(self, user: str, session: str, chunk: Sequence[Turn]) -> None:
        """Store a chunk of a session."""

    def search(self, user: str, question: str) -> list[str]:
        """Up to a hundred contents, best first."""


class Hybrid:
    """The hybrid memory through its public interface, as the server drives it."""

    def __init__(self, directory: Path) -> None:
        self._memory = HybridMemory(directory)
        self._count = 0

    def add(self, user: str, session: str, chunk: Sequence[Turn]) -> None:
        """One Add."""
        self._count += 1
        messages = [
            Message(role="user", content=turn.content, timestamp=turn.timestamp) for turn in chunk
        ]
        self._memory.add(
            AddRequest(
                request_id=f"r_{self._count}", user_id=user, session_id=session, messages=messages
            )
        )

    def search(self, user: str, question: str) -> list[str]:
        """One Search."""
        found = self._memory.search(SearchRequest(query=question, user_id=user, top_k=100))
        return [each.content for each in found if isinstance(each.content, str)]


class FTS5Windows:
    """FTS5 with context windows: each turn indexed with its neighbours and its session's date.

    Porter stems, the question's stop words dropped, SQLite's ``bm25()``. It indexes a
    conversation at its first question, with a table, so statistics, of its own.
    """

    def __init__(self, _directory: Path) -> None:
        self._database = sqlite3.connect(":memory:")
        self._sessions: dict[str, dict[str, list[Turn]]] = {}
        self._tables: dict[str, str] = {}

    def add(self, user: str, session: str, chunk: Sequence[Turn]) -> None:
        """Keep the turns until the first question."""
        self._sessions.setdefault(user, {}).setdefault(session, []).extend(chunk)

    def search(self, user: str, question: str) -> list[str]:
        """Match any word of the question."""
        if user not in self._tables:
            self._index(user)
        words = re.findall(r"\w+", question.lower())
        wanted = [word for word in words if word not in STOP_WORDS] or words
        table = self._tables[user]
        return [
            content
            for (content,) in self._database.execute(
                f"SELECT content FROM {table} WHERE {table} MATCH ?"
                f" ORDER BY bm25({table}), rowid LIMIT 100",
                (" OR ".join(f'"{word}"' for word in wanted),),
            )
        ]

    def _index(self, user: str) -> None:
        table = self._tables[user] = f"windows_{len(self._tables)}"
        self._database.execute(
            f"CREATE VIRTUAL TABLE {table} USING fts5"
            "(content UNINDEXED, context, tokenize = 'porter unicode61')"
        )
        for turns in self._sessions[user].values():
            day = time.gmtime(turns[0].timestamp // 1000)
            date = time.strftime("%d %B %Y", day).lstrip("0")
            for place, turn in enumerate(turns):
                window = turns[max(place - 1, 0) : place + 2]
                context = "\n".join([date, *(each.content for each in window)])
                self._database.execute(
                    f"INSERT INTO {table} VALUES (?, ?)", (turn.content, context)
                )


SYSTEMS: dict[str, Callable[[Path], Memory]] = {
    "fts5-windows": FTS5Windows,
    "hybrid": Hybrid,
}


@dataclass
class Result:
    """One system on some conversations; means over questions, times in milliseconds of CPU."""

    system: str
    questions: int = 0
    recall: dict[int, float] = field(default_factory=dict)
    mrr: float = 0.0
    add_ms: list[float] = field(default_factory=list)
    search_ms: list[float] = field(default_factory=list)

    def median(self, times: Sequence[float]) -> float:
        """The median time, to two digits."""
        return round(statistics.median(times), 2)

    def as_json(self) -> dict[str, object]:
        """The result with times summed up."""
        return {
            "system": self.system,
            "questions": self.questions,
            "recall": {str(depth): round(self.recall[depth], 4) for depth in DEPTHS},
            "mrr": round(self.mrr, 4),
            "add_ms": self.median(self.add_ms),
            "search_ms": self.median(self.search_ms),
        }


def evaluate(system: str, conversations: Sequence[Conversation]) -> Result:
    """Store every conversation as a user of one memory, then ask all questions."""
    result = Result(system)
    shares: dict[int, list[float]] = {depth: [] for depth in DEPTHS}
    reciprocal: list[float] = []
    with tempfile.TemporaryDirectory() as directory:
        memory = SYSTEMS[system](Path(directory))
        for conversation in conversations:
            for session in conversation.sessions:
                for chunk in chunks(messages_of(session)):
                    begun = time.process_time()
                    memory.add(conversation.name, session.name, chunk)
                    result.add_ms.append((time.process_time() - begun) * 1e3)
        for conversation in conversations:
            turns = {turn.id: turn for turn in conversation.turns}
            for question in conversation.questions:
                begun = time.process_time()
                contents = memory.search(conversation.name, question.text)
                result.search_ms.append((time.process_time() - begun) * 1e3)
                ranks = [place(turns[name].needle, contents) for name in question.evidence]
                for depth, found in shares.items():
                    hits = sum(1 for at in ranks if at is not None and at <= depth)
                    found.append(hits / len(ranks))
                best = min((at for at in ranks if at is not None), default=None)
                reciprocal.append(1 / best if best else 0.0)
    result.questions = len(reciprocal)
    result.recall = {depth: statistics.fmean(found) for depth, found in shares.items()}
    result.mrr = statistics.fmean(reciprocal)
    return result


def place(text: str, contents: Sequence[str]) -> int | None:
    """The rank, from 1, of the first content that contains the text."""
    return next((at for at, content in enumerate(contents, 1) if text in content), None)


def load(numbers: Sequence[int], data: Path) -> list[Conversation]:
    """The LoCoMo conversations with these numbers."""
    return [found for number in numbers for found in read(data / "locomo" / f"conv-{number}.json")]


def main() -> int:
    """Print a table, or JSON."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("conversations", nargs="*", type=int, default=[41, 42, 43])
    parser.add_argument("--data", type=Path, default=os.environ.get("AML_DATA_DIR"))
    parser.add_argument("--system", action="append", choices=sorted(SYSTEMS))
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    if arguments.data is None:
        parser.error("name the data directory: --data DIR, or AML_DATA_DIR")
    conversations = load(arguments.conversations, arguments.data)
    results = [evaluate(name, conversations) for name in arguments.system or SYSTEMS]
    if arguments.json:
        print(json.dumps([result.as_json() for result in results], indent=2))
        return 0
    print(f"conversations {arguments.conversations}, {results[0].questions} questions")
    heads = "".join(f"{f'@{depth}':>8}" for depth in DEPTHS)
    print(f"{'system':<14}{heads}{'MRR':>8}{'Add ms':>9}{'Search ms':>11}")
    for result in results:
        figures = "".join(f"{result.recall[depth]:>8.3f}" for depth in DEPTHS)
        add, search = result.median(result.add_ms), result.median(result.search_ms)
        print(f"{result.system:<14}{figures}{result.mrr:>8.3f}{add:>9.1f}{search:>11.1f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
