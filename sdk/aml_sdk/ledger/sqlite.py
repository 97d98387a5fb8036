"""The ledger in one SQLite file, safe against ``kill -9`` and power loss."""

from __future__ import annotations

import asyncio
import queue
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from aml_sdk.data_dir import DataDirectory
from aml_sdk.errors import Unavailable
from aml_sdk.ledger.base import AddKey, Claim, Ledger
from aml_sdk.ledger.journal import Journal

_T = TypeVar("_T")
_BATCH = 256

_SCHEMA = """
CREATE TABLE IF NOT EXISTS adds (
    user_id TEXT NOT NULL,
    request_id TEXT NOT NULL,
    digest BLOB NOT NULL,
    done INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (user_id, request_id)
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS pending ON adds (done) WHERE done = 0;

-- last_add: Unix seconds. forgetting: why the user is to be forgotten, if it is.
CREATE TABLE IF NOT EXISTS users (
    user_id TEXT NOT NULL PRIMARY KEY,
    last_add REAL NOT NULL,
    forgetting TEXT
) WITHOUT ROWID;
"""


class _Job(NamedTuple):
    """One operation on its way to the writer thread."""

    run: Callable[[sqlite3.Connection], Any]
    future: asyncio.Future[Any]
    scrub: bool = False
    """Whether to empty the write-ahead log afterwards, where removed rows may still be read."""


class _Told(NamedTuple):
    """What became of a job."""

    future: asyncio.Future[Any]
    result: Any
    error: Exception | None


class SQLiteLedger(Ledger):
    """``ledger.sqlite3`` in a data directory, and ``forgotten.jsonl``, the journal.

    One thread of its own writes. What waits while it commits goes into the next commit
    together: Adds in parallel share a disk flush, and the event loop never waits for one.
    """

    def __init__(self, data_dir: Path) -> None:
        """Own the ledger of the directory, which is made if need be.

        Raises:
            DataDirectoryBusy: another process owns it.
            OSError: the directory cannot be made or written.
        """
        self._directory = DataDirectory(data_dir, "ledger")
        self._path = data_dir / "ledger.sqlite3"
        self._journal = Journal(data_dir / "forgotten.jsonl")
        self._jobs: queue.SimpleQueue[_Job | None] = queue.SimpleQueue()
        self._writer: threading.Thread | None = None
        self._loop: asyncio.AbstractEventLoop | None = None

    async def open(self) -> Sequence[AddKey]:
        """Open the file and start the writer; the Adds left pending."""
        connection = await asyncio.to_thread(self._connect)
        self._loop = asyncio.get_running_loop()
        self._writer = threading.Thread(
            target=self._write, args=(connection, self._loop), name="aml-ledger", daemon=True
        )
        self._writer.start()
        return await self._do(_pending)

    async def claim(self, key: AddKey, digest: bytes) -> Claim:
        """Make the Add pending unless it is known already."""
        return await self._do(lambda connection: _claim(connection, key, digest))

    async def complete(self, key: AddKey) -> None:
        """The Add is stored."""
        await self._do(lambda connection: _complete(connection, key))

    async def release(self, key: AddKey) -> None:
        """Forget a pending Add."""
        await self._do(lambda connection: _release(connection, key))

    async def idle_since(self, moment: float) -> Sequence[str]:
        """Users whose last Add was claimed before ``moment``."""
        return await self._do(lambda connection: _idle(connection, moment))

    async def begin_forgetting(
        self, user_id: str, why: str, *, idle_since: float | None = None
    ) -> bool:
        """Mark a user to be forgotten."""
        return await self._do(lambda connection: _mark(connection, user_id, why, idle_since))

    async def begun_forgetting(self) -> Sequence[str]:
        """Users who are marked."""
        return await self._do(_marked)

    async def forget(self, user_id: str) -> int:
        """Remove and overwrite all that is known of a marked user, and write the journal."""
        journal = self._journal
        return await self._do(lambda connection: _forget(connection, user_id, journal), scrub=True)

    async def close(self) -> None:
        """Write what waits, close the file, give the directory up."""
        if self._writer is not None:
            self._jobs.put(None)
            await asyncio.to_thread(self._writer.join)
            self._writer = None
        self._directory.close()

    def _connect(self) -> sqlite3.Connection:
        try:
            connection = sqlite3.connect(self._path, isolation_level=None, check_same_thread=False)
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("PRAGMA synchronous = FULL")
            connection.execute("PRAGMA secure_delete = ON")
            connection.executescript(_SCHEMA)
            # Of users whom a version without that table knew, the last Add counts as now.
            connection.execute(
                "INSERT OR IGNORE INTO users (user_id, last_add) SELECT DISTINCT user_id, ?"
                " FROM adds WHERE NOT EXISTS (SELECT 1 FROM users)",
                (time.time(),),
            )
        except sqlite3.Error as error:
            raise OSError(f"{self._path}: {error}") from error
        return connection

    async def _do(self, run: Callable[[sqlite3.Connection], _T], *, scrub: bool = False) -> _T:
        if self._writer is None or self._loop is None:
            raise Unavailable("the ledger is not open")
        future: asyncio.Future[_T] = self._loop.create_future()
        self._jobs.put(_Job(run, future, scrub))
        return await future

    def _write(self, connection: sqlite3.Connection, loop: asyncio.AbstractEventLoop) -> None:
        """The writer thread: one transaction for all that waits, then tell each its result."""
        job = self._jobs.get()
        while job is not None:
            batch = [job, *self._waiting(_BATCH - 1)]
            told = _transact(connection, batch)
            if any(each.scrub for each in batch):
                with suppress(sqlite3.Error):  # the next one will
                    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
            with suppress(RuntimeError):  # the loop was closed under us: nobody waits any more
                loop.call_soon_threadsafe(_tell, told)
            job = self._jobs.get()
        connection.close()

    def _waiting(self, limit: int) -> Iterator[_Job]:
        """The jobs that wait already; the end mark goes back to where it was, at the end."""
        with suppress(queue.Empty):
            for _ in range(limit):
                job = self._jobs.get_nowait()
                if job is None:
                    self._jobs.put(None)
                    return
                yield job


def _pending(connection: sqlite3.Connection) -> list[AddKey]:
    rows = connection.execute("SELECT user_id, request_id FROM adds WHERE done = 0")
    return [AddKey(*row) for row in rows]


def _claim(connection: sqlite3.Connection, key: AddKey, digest: bytes) -> Claim:
    claim = _met(connection, key, digest)
    if claim is not Claim.CONFLICT:
        connection.execute(
            "INSERT INTO users (user_id, last_add) VALUES (?, ?)"
            " ON CONFLICT DO UPDATE SET last_add = excluded.last_add",
            (key.user_id, time.time()),
        )
    return claim


def _met(connection: sqlite3.Connection, key: AddKey, digest: bytes) -> Claim:
    inserted = connection.execute(
        "INSERT OR IGNORE INTO adds (user_id, request_id, digest) VALUES (?, ?, ?)",
        (*key, digest),
    )
    if inserted.rowcount:
        return Claim.NEW
    known, done = connection.execute(
        "SELECT digest, done FROM adds WHERE user_id = ? AND request_id = ?", key
    ).fetchone()
    if known != digest:
        return Claim.CONFLICT
    return Claim.DONE if done else Claim.PENDING


def _complete(connection: sqlite3.Connection, key: AddKey) -> None:
    connection.execute("UPDATE adds SET done = 1 WHERE user_id = ? AND request_id = ?", key)


def _release(connection: sqlite3.Connection, key: AddKey) -> None:
    connection.execute("DELETE FROM adds WHERE user_id = ? AND request_id = ? AND done = 0", key)


def _idle(connection: sqlite3.Connection, moment: float) -> list[str]:
    rows = connection.execute("SELECT user_id FROM users WHERE last_add < ?", (moment,))
    return [user for (user,) in rows]


def _mark(connection: sqlite3.Connection, user_id: str, why: str, idle_since: float | None) -> bool:
    if idle_since is None:
        connection.execute(
            "INSERT INTO users (user_id, last_add) VALUES (?, 0) ON CONFLICT DO NOTHING",
            (user_id,),
        )
    marked = connection.execute(
        "UPDATE users SET forgetting = coalesce(forgetting, ?1)"
        " WHERE user_id = ?2 AND (?3 IS NULL OR last_add < ?3)",
        (why, user_id, idle_since),
    )
    return bool(marked.rowcount)


def _marked(connection: sqlite3.Connection) -> list[str]:
    rows = connection.execute("SELECT user_id FROM users WHERE forgetting IS NOT NULL")
    return [user for (user,) in rows]


def _forget(connection: sqlite3.Connection, user_id: str, journal: Journal) -> int:
    adds = connection.execute("DELETE FROM adds WHERE user_id = ?", (user_id,)).rowcount
    row = connection.execute(
        "DELETE FROM users WHERE user_id = ? RETURNING forgetting", (user_id,)
    ).fetchone()
    # Before the commit: what is gone is in the journal. A failed commit leaves a line too many.
    journal.write(user_id, row[0] if row and row[0] else "asked", adds)
    return adds


def _transact(connection: sqlite3.Connection, batch: Sequence[_Job]) -> list[_Told]:
    """Run the jobs in one transaction; should that fail, each in its own."""
    try:
        connection.execute("BEGIN IMMEDIATE")
        told = [_Told(job.future, job.run(connection), None) for job in batch]
        connection.execute("COMMIT")
    except Exception as error:  # noqa: BLE001  the writer must outlive whatever one job did
        if connection.in_transaction:
            with suppress(sqlite3.Error):
                connection.execute("ROLLBACK")
        if len(batch) > 1:
            return [told for job in batch for told in _transact(connection, [job])]
        failure = Unavailable(f"the ledger cannot be written: {error}")
        return [_Told(batch[0].future, None, failure)]
    return told


def _tell(told: Sequence[_Told]) -> None:
    """On the event loop: wake those who wait."""
    for future, result, error in told:
        if future.done():  # its waiter was cancelled
            continue
        if error is None:
            future.set_result(result)
        else:
            future.set_exception(error)
