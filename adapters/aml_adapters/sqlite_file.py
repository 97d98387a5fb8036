"""A memory's SQLite file: one connection writes, as many read as threads ask.

Each reader has a snapshot of its own, so that a Search sees an Add whole or not at all.
"""

from __future__ import annotations

import queue
import sqlite3
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Generic, TypeVar

from aml_sdk.errors import AMLError, Unavailable

_BUSY_SECONDS = 30

Reads = TypeVar("Reads")
Writes = TypeVar("Writes")


class IncompatibleDataError(AMLError):
    """The file was written by another version or with another embedder."""


class SQLiteFile:
    """The file, safe to use from several threads at once.

    What is removed is overwritten (``secure_delete``); what is committed survives power loss.

    Args:
        path: the file; made if need be.
        schema: statements that make its tables, separated by ``;``. Beside them there is a
            table ``setting``.
        version: of the schema.
        settings: by name, what the data depends on, such as the embedder; kept in the file.

    Raises:
        IncompatibleDataError: the file was written under another version or other settings,
            or is no SQLite file.
        Unavailable: the file cannot be opened.
    """

    def __init__(self, path: Path, schema: str, version: int, settings: Mapping[str, str]) -> None:
        self._path = path
        self._writing = threading.Lock()
        self._readers: queue.LifoQueue[sqlite3.Connection] = queue.LifoQueue()
        self._closed = False
        try:
            with _trouble():
                self._writer = self._connect()
                try:
                    self._create_or_check(schema, version, settings)
                except BaseException:
                    self._writer.close()
                    raise
        except sqlite3.DatabaseError as error:
            raise IncompatibleDataError(f"{path}: {error}") from error

    @contextmanager
    def read(self) -> Iterator[sqlite3.Connection]:
        """A connection that sees one snapshot, for as long as the block lasts.

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
                yield connection
            finally:
                connection.rollback()
                if self._closed:
                    connection.close()
                else:
                    self._readers.put(connection)

    @contextmanager
    def write(self) -> Iterator[sqlite3.Connection]:
        """A transaction, on disk (power loss included) when the block has ended well.

        Raises:
            Unavailable: the file cannot be written now; nothing has changed.
        """
        with self._writing, _trouble():
            if self._closed:
                raise Unavailable("the memory is closed")
            self._writer.execute("BEGIN IMMEDIATE")
            try:
                yield self._writer
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

    def _create_or_check(self, schema: str, version: int, settings: Mapping[str, str]) -> None:
        run = self._writer.execute
        run("BEGIN IMMEDIATE")
        (found,) = run("PRAGMA user_version").fetchone()
        if found == 0:
            run("CREATE TABLE setting (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID")
            for statement in schema.split(";"):
                run(statement)
            self._writer.executemany("INSERT INTO setting VALUES (?, ?)", settings.items())
            run(f"PRAGMA user_version = {version}")
        elif found != version:
            raise IncompatibleDataError(
                f"{self._path} has schema {found}, this version reads {version};"
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


class SQLiteStore(Generic[Reads, Writes]):
    """A file whose snapshots and transactions speak an adapter's own words.

    Safe to use from several threads at once.

    Args:
        file: where everything is.
        reads: makes a snapshot of a connection.
        writes: makes a transaction of a connection.
    """

    def __init__(
        self,
        file: SQLiteFile,
        reads: Callable[[sqlite3.Connection], Reads],
        writes: Callable[[sqlite3.Connection], Writes],
    ) -> None:
        self._file = file
        self._reads = reads
        self._writes = writes

    @contextmanager
    def read(self) -> Iterator[Reads]:
        """A snapshot, for as long as the block lasts.

        Raises:
            Unavailable: the file cannot be read now.
        """
        with self._file.read() as connection:
            yield self._reads(connection)

    @contextmanager
    def write(self) -> Iterator[Writes]:
        """A transaction, on disk (power loss included) when the block has ended well.

        Raises:
            Unavailable: the file cannot be written now; nothing has changed.
        """
        with self._file.write() as connection:
            yield self._writes(connection)

    def scrub(self) -> None:
        """Empty the write-ahead log, where removed rows may still be read."""
        self._file.scrub()

    def close(self) -> None:
        """Close the file; a second call does nothing."""
        self._file.close()
