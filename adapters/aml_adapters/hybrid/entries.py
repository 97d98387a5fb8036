"""The tables that find texts: one entry a text, and a posting for each of its terms."""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from aml_adapters.hybrid.embedding import Vectors
from aml_adapters.hybrid.index import UNDATED, Entry, IndexCache, Integers, UserIndex
from aml_adapters.hybrid.tokens import date_terms, terms
from aml_sdk.content import event_time

SCHEMA = """
-- What ranking reads of every text of a user: small rows, side by side.
CREATE TABLE entry (
    user INTEGER NOT NULL,
    sequence INTEGER NOT NULL,
    session INTEGER NOT NULL,
    chunk_time INTEGER NOT NULL,
    timestamp INTEGER NOT NULL,
    length INTEGER NOT NULL,
    image_bytes INTEGER NOT NULL,
    vector BLOB NOT NULL,
    PRIMARY KEY (user, sequence)
) WITHOUT ROWID;

-- How often a term stands in a text, and under "@term" in its date.
CREATE TABLE posting (
    user INTEGER NOT NULL,
    term TEXT NOT NULL,
    sequence INTEGER NOT NULL,
    count INTEGER NOT NULL,
    PRIMARY KEY (user, term, sequence)
) WITHOUT ROWID;
"""
DATE = "@"  # no term of a text begins with it and goes on


@dataclass(frozen=True)
class Indexed:
    """What finds a text: see the columns of ``entry`` and ``posting``."""

    chunk_time: int
    timestamp: int
    length: int
    image_bytes: int
    vector: bytes
    terms: Mapping[str, int]

    @classmethod
    def of(
        cls,
        text: str,
        timestamp: int | None,
        chunk_time: int,
        vector: Vectors,
        image_bytes: int = 0,
    ) -> Indexed:
        """Analyse a text.

        Args:
            text: what is to be found.
            timestamp: Unix milliseconds; found by its day too.
            chunk_time: see :class:`~aml_adapters.hybrid.index.Entry`.
            vector: of the text.
            image_bytes: decoded size of the images that come with it.
        """
        found = Counter(terms(text))
        length = found.total()
        day = event_time(timestamp)
        if day is not None:
            found.update({DATE + term: 1 for term in date_terms(day.date())})
        return cls(
            chunk_time=chunk_time,
            timestamp=UNDATED if timestamp is None else timestamp,
            length=length,
            image_bytes=image_bytes,
            vector=vector.tobytes(),
            terms=found,
        )

    def entry(self, sequence: int, session: int) -> Entry:
        """The row that ranking reads."""
        return Entry(
            *(sequence, session, self.chunk_time, self.timestamp),
            *(self.length, self.image_bytes, self.vector),
        )


class Entries:
    """Entries and postings, within one transaction."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def last(self, user: int) -> int:
        """The newest sequence number of a user, -1 without entries."""
        (last,) = self._connection.execute(
            "SELECT coalesce(max(sequence), -1) FROM entry WHERE user = ?", (user,)
        ).fetchone()
        return int(last)

    def after(self, user: int, sequence: int) -> list[Entry]:
        """Entries with sequence numbers above ``sequence``, in order."""
        rows = self._connection.execute(
            "SELECT sequence, session, chunk_time, timestamp, length, image_bytes, vector"
            " FROM entry WHERE user = ? AND sequence > ? ORDER BY sequence",
            (user, sequence),
        )
        return [Entry(*row) for row in rows]

    def index(self, user: int, epoch: int, cache: IndexCache) -> UserIndex:
        """The index of exactly what is here, from the cache as far as it goes."""
        cached = cache.get(user)
        last = self.last(user)
        if cached is None or cached.epoch != epoch or cached.last > last:
            cached = UserIndex.empty(epoch)
        if cached.last == last:
            return cached
        index = cached.extended(self.after(user, cached.last))
        cache.put(user, index)
        return index

    def postings(self, user: int, terms: Iterable[str]) -> dict[str, tuple[Integers, Integers]]:
        """Where each term stands: sequence numbers, and how often in each."""
        found = {}
        for term in terms:
            rows = self._connection.execute(
                "SELECT sequence, count FROM posting WHERE user = ? AND term = ?", (user, term)
            ).fetchall()
            if rows:
                sequences, counts = np.array(rows, np.int64).T
                found[term] = (sequences, counts)
        return found

    def put(self, user: int, indexed: Sequence[tuple[int, int, Indexed]]) -> None:
        """Add texts, each with its sequence number and the key of its session."""
        self._connection.executemany(
            "INSERT INTO entry VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            (
                (
                    *(user, sequence, session, each.chunk_time, each.timestamp),
                    *(each.length, each.image_bytes, each.vector),
                )
                for sequence, session, each in indexed
            ),
        )
        postings = [
            (user, term, sequence, count)
            for sequence, _, each in indexed
            for term, count in each.terms.items()
        ]
        postings.sort()  # in the order of the table: each page is visited once
        self._connection.executemany("INSERT INTO posting VALUES (?, ?, ?, ?)", postings)

    def remove(self, user: int, first: int, last: int) -> None:
        """Remove a range of sequence numbers; reads through the user's postings."""
        for table in ("entry", "posting"):
            self._connection.execute(
                f"DELETE FROM {table} WHERE user = ? AND sequence BETWEEN ? AND ?",  # noqa: S608  fixed names
                (user, first, last),
            )

    def remove_user(self, user: int) -> None:
        """Remove all entries of a user."""
        for table in ("posting", "entry"):
            self._connection.execute(f"DELETE FROM {table} WHERE user = ?", (user,))  # noqa: S608  fixed names
