"""The SQLite file: what was said, and what finds it.

One connection writes, one transaction an Add; as many read as threads ask, each in a
snapshot of its own, so that a Search sees an Add whole or not at all.
"""

from __future__ import annotations

import queue
import sqlite3
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from aml_sdk.errors import AMLError, Unavailable

from aml_adapters.hybrid.index import Entry, Integers

_SCHEMA_VERSION = 1
_SCHEMA = """
CREATE TABLE setting (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;

-- key: never used twice. epoch: changes when something of the user is removed.
CREATE TABLE user (
    key INTEGER PRIMARY KEY AUTOINCREMENT,
    user_id TEXT NOT NULL UNIQUE,
    epoch INTEGER NOT NULL DEFAULT 0,
    next_sequence INTEGER NOT NULL DEFAULT 0
);
CREATE TABLE session (
    key INTEGER PRIMARY KEY AUTOINCREMENT,
    user INTEGER NOT NULL REFERENCES user,
    session_id TEXT NOT NULL,
    UNIQUE (user, session_id)
);

-- What was said. parts: content is the JSON of a part list, else the text itself.
CREATE TABLE message (
    row INTEGER PRIMARY KEY,
    user INTEGER NOT NULL REFERENCES user,
    sequence INTEGER NOT NULL,
    id TEXT NOT NULL UNIQUE,
    request_id TEXT NOT NULL,
    position INTEGER NOT NULL,
    session INTEGER NOT NULL REFERENCES session,
    role TEXT NOT NULL,
    timestamp INTEGER,
    parts INTEGER NOT NULL,
    content TEXT NOT NULL,
    UNIQUE (user, sequence)
);
CREATE INDEX message_by_request ON message (user, request_id);

-- What ranking reads of every message of a user: small rows, side by side.
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

-- How often a term stands in a message, and under "@term" in its date.
CREATE TABLE posting (
    user INTEGER NOT NULL,
    term TEXT NOT NULL,
    sequence INTEGER NOT NULL,
    count INTEGER NOT NULL,
    PRIMARY KEY (user, term, sequence)
) WITHOUT ROWID;
"""
_BUSY_SECONDS = 30


class IncompatibleDataError(AMLError):
    """The file was written by another version or with another embedder."""


@dataclass(frozen=True)
class Said:
    """One message as it is kept and given back."""

    id: str
    position: int
    role: str
    timestamp: int | None
    parts: bool
    content: str


@dataclass(frozen=True)
class Indexed:
    """What finds a message: see the columns of ``entry`` and ``posting``."""

    chunk_time: int
    timestamp: int
    length: int
    image_bytes: int
    vector: bytes
    terms: Mapping[str, int]


class Snapshot:
    """What the file held when the transaction began."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def user(self, user_id: str) -> tuple[int, int] | None:
        """The user's key and epoch, ``None`` for one who is unknown."""
        row: tuple[int, int] | None = self._connection.execute(
            "SELECT key, epoch FROM user WHERE user_id = ?", (user_id,)
        ).fetchone()
        return row

    def last(self, user: int) -> int:
        """The newest sequence number of a user, -1 without messages."""
        (last,) = self._connection.execute(
            "SELECT coalesce(max(sequence), -1) FROM entry WHERE user = ?", (user,)
        ).fetchone()
        return int(last)

    def entries(self, user: int, after: int) -> list[Entry]:
        """Entries with sequence numbers above ``after``, in order."""
        rows = self._connection.execute(
            "SELECT sequence, session, chunk_time, timestamp, length, image_bytes, vector"
            " FROM entry WHERE user = ? AND sequence > ? ORDER BY sequence",
            (user, after),
        )
        return [Entry(*row) for row in rows]

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

    def said(self, user: int, sequences: Iterable[int]) -> list[Said]:
        """The messages with these sequence numbers, in the order asked for."""
        return [
            _said(
                self._connection.execute(
                    "SELECT id, position, role, timestamp, parts, content"
                    " FROM message WHERE user = ? AND sequence = ?",
                    (user, sequence),
                ).fetchone()
            )
            for sequence in sequences
        ]

    def request(self, user_id: str, request_id: str) -> tuple[str, list[Said]] | None:
        """The session id and the messages of a request, ``None`` if it stored nothing."""
        rows = self._connection.execute(
            "SELECT session_id, id, position, role, timestamp, parts, content FROM message"
            " JOIN user ON user.key = message.user JOIN session ON session.key = message.session"
            " WHERE user_id = ? AND request_id = ? ORDER BY position",
            (user_id, request_id),
        ).fetchall()
        return (rows[0][0], [_said(row[1:]) for row in rows]) if rows else None


def _said(row: tuple[str, int, str, int | None, int, str]) -> Said:
    id_, position, role, timestamp, parts, content = row
    return Said(id_, position, role, timestamp, bool(parts), content)


class Transaction(Snapshot):
    """A snapshot that may be changed; kept whole or not at all."""

    def put(
        self,
        user_id: str,
        request_id: str,
        session_id: str,
        messages: Sequence[tuple[Said, Indexed]],
    ) -> None:
        """Store a request's messages as the user's newest, instead of what it had stored."""
        self.remove_request(user_id, request_id)
        run = self._connection.execute
        run("INSERT INTO user (user_id) VALUES (?) ON CONFLICT DO NOTHING", (user_id,))
        user, first = run(
            "SELECT key, next_sequence FROM user WHERE user_id = ?", (user_id,)
        ).fetchone()
        run("UPDATE user SET next_sequence = ? WHERE key = ?", (first + len(messages), user))
        run(
            "INSERT INTO session (user, session_id) VALUES (?, ?) ON CONFLICT DO NOTHING",
            (user, session_id),
        )
        (session,) = run(
            "SELECT key FROM session WHERE user = ? AND session_id = ?", (user, session_id)
        ).fetchone()
        for number, (said, indexed) in enumerate(messages, first):
            run(
                "INSERT INTO message (user, sequence, id, request_id, position, session, role,"
                " timestamp, parts, content) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                (
                    *(user, number, said.id, request_id, said.position, session, said.role),
                    *(said.timestamp, said.parts, said.content),
                ),
            )
            run(
                "INSERT INTO entry VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                (
                    *(user, number, session, indexed.chunk_time, indexed.timestamp),
                    *(indexed.length, indexed.image_bytes, indexed.vector),
                ),
            )
            self._connection.executemany(
                "INSERT INTO posting VALUES (?, ?, ?, ?)",
                [(user, term, number, count) for term, count in indexed.terms.items()],
            )

    def remove_request(self, user_id: str, request_id: str) -> None:
        """Remove what a request stored; reads through the user's postings."""
        known = self.user(user_id)
        if known is None:
            return
        stored = (known[0], request_id)
        first, last = self._connection.execute(
            "SELECT min(sequence), max(sequence) FROM message WHERE user = ? AND request_id = ?",
            stored,
        ).fetchone()
        if first is None:
            return
        self._connection.execute("DELETE FROM message WHERE user = ? AND request_id = ?", stored)
        for table in ("entry", "posting"):
            self._connection.execute(
                f"DELETE FROM {table} WHERE user = ? AND sequence BETWEEN ? AND ?",  # noqa: S608  fixed names
                (known[0], first, last),
            )
        self._connection.execute("UPDATE user SET epoch = epoch + 1 WHERE key = ?", (known[0],))

    def remove_user(self, user_id: str) -> int | None:
        """Remove everything of a user and return the key that was theirs."""
        known = self.user(user_id)
        if known is None:
            return None
        for table in ("posting", "entry", "message", "session"):
            self._connection.execute(f"DELETE FROM {table} WHERE user = ?", (known[0],))  # noqa: S608
        self._connection.execute("DELETE FROM user WHERE key = ?", (known[0],))
        return known[0]


class Store:
    """The file, safe to use from several threads at once.

    Raises:
        IncompatibleDataError: the file was written under other ``settings``, or is no
            SQLite file.
        Unavailable: the file cannot be opened.
    """

    def __init__(self, path: Path, settings: Mapping[str, str]) -> None:
        self._path = path
        self._writing = threading.Lock()
        self._readers: queue.LifoQueue[sqlite3.Connection] = queue.LifoQueue()
        self._closed = False
        try:
            with _trouble():
                self._writer = self._connect()
                self._prepare(settings)
        except sqlite3.DatabaseError as error:
            raise IncompatibleDataError(f"{path}: {error}") from error

    @contextmanager
    def read(self) -> Iterator[Snapshot]:
        """A snapshot, for as long as the block lasts.

        Raises:
            Unavailable: the file cannot be read now.
        """
        with _trouble():
            if self._closed:
                raise Unavailable("the memory is closed")
            try:
                connection = self._readers.get_nowait()
            except queue.Empty:
                connection = self._connect()
            try:
                connection.execute("BEGIN")
                yield Snapshot(connection)
            finally:
                connection.rollback()
                if self._closed:
                    connection.close()
                else:
                    self._readers.put(connection)

    @contextmanager
    def write(self) -> Iterator[Transaction]:
        """A transaction, on disk (power loss included) when the block has ended well.

        Raises:
            Unavailable: the file cannot be written now; nothing has changed.
        """
        with self._writing, _trouble():
            if self._closed:
                raise Unavailable("the memory is closed")
            self._writer.execute("BEGIN IMMEDIATE")
            try:
                yield Transaction(self._writer)
                self._writer.commit()
            except BaseException:
                self._writer.rollback()
                raise

    def scrub(self) -> None:
        """Empty the write-ahead log, where removed rows may still be read."""
        with self._writing, _trouble():
            self._writer.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()

    def close(self) -> None:
        """Close the file; a second call does nothing."""
        with self._writing:
            self._closed = True
            self._writer.close()
            while not self._readers.empty():
                self._readers.get().close()

    def _connect(self) -> sqlite3.Connection:
        connection = sqlite3.connect(
            self._path, timeout=_BUSY_SECONDS, isolation_level=None, check_same_thread=False
        )
        try:
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("PRAGMA synchronous = FULL")
            connection.execute("PRAGMA secure_delete = ON")
        except BaseException:
            connection.close()
            raise
        return connection

    def _prepare(self, settings: Mapping[str, str]) -> None:
        try:
            self._create_or_check(settings)
        except BaseException:
            self._writer.close()
            raise

    def _create_or_check(self, settings: Mapping[str, str]) -> None:
        run = self._writer.execute
        run("BEGIN IMMEDIATE")
        (version,) = run("PRAGMA user_version").fetchone()
        if version == 0:
            for statement in _SCHEMA.split(";"):
                run(statement)
            self._writer.executemany("INSERT INTO setting VALUES (?, ?)", settings.items())
            run(f"PRAGMA user_version = {_SCHEMA_VERSION}")
        elif version != _SCHEMA_VERSION:
            raise IncompatibleDataError(
                f"{self._path} has schema {version}, this version reads {_SCHEMA_VERSION};"
                " use an empty data directory"
            )
        self._writer.commit()
        kept = dict(run("SELECT name, value FROM setting"))
        for name, value in settings.items():
            if kept.get(name) != value:
                raise IncompatibleDataError(
                    f"{self._path} was written with {name} {kept.get(name)!r}, and this version"
                    f" has {value!r}: they do not compare. Use an empty data directory,"
                    " or the version that wrote this one"
                )


@contextmanager
def _trouble() -> Iterator[None]:
    """Full disks and locks pass: the client is to try again (clause F3)."""
    try:
        yield
    except sqlite3.OperationalError as error:
        raise Unavailable(f"the memory's file: {error}") from error
