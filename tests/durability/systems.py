"""Small systems on SQLite for the storm: one that is right and two that are wrong."""

import sqlite3
import threading
import time

from aml_sdk import Memory, MemorySystem
from aml_sdk.content import text_of


class Appending(MemorySystem):
    """Appends each message in a commit of its own, slowly: a kill leaves half an Add behind.

    It is right all the same, since it can ``discard``.
    """

    pause = 0.005

    def __init__(self, data_dir):
        self._lock = threading.Lock()
        self._file = sqlite3.connect(
            data_dir / "memory.sqlite3", isolation_level=None, check_same_thread=False
        )
        self._file.execute("PRAGMA journal_mode = WAL")
        self._file.execute("CREATE TABLE IF NOT EXISTS memory (user, request, text)")
        self._file.execute("CREATE INDEX IF NOT EXISTS texts ON memory (user, text)")

    def add(self, request):
        for message in request.messages:
            row = (request.user_id, request.request_id, text_of(message.content))
            with self._lock:
                self._file.execute("INSERT INTO memory VALUES (?, ?, ?)", row)
            time.sleep(self.pause)

    def search(self, request):
        sought = text_of(request.query)
        with self._lock:
            rows = self._file.execute(
                "SELECT rowid, text FROM memory WHERE user = ? AND text = ?",
                (request.user_id, sought),
            ).fetchall()
        return [Memory(id=str(rowid), content=text) for rowid, text in rows]

    def discard(self, user_id, request_id):
        with self._lock:
            self._file.execute(
                "DELETE FROM memory WHERE user = ? AND request = ?", (user_id, request_id)
            )

    def close(self):
        self._file.close()


class Doubling(Appending):
    """Wrong: it appends and cannot discard."""

    def discard(self, user_id, request_id):
        pass


class Hasty(Appending):
    """Wrong: it answers before what it stored is on disk."""

    pause = 0

    def __init__(self, data_dir):
        super().__init__(data_dir)
        self._file.isolation_level = "DEFERRED"  # a transaction that nobody commits
