"""The SQLite file: what was said, and what finds it.

One connection writes, one transaction an Add; as many read as threads ask, each in a
snapshot of its own, so that a Search sees an Add whole or not at all.
"""

from __future__ import annotations

import queue
import sqlite3
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from aml_adapters.hybrid.rows import Snapshot, Transaction
from aml_sdk.errors import AMLError, Unavailable

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
