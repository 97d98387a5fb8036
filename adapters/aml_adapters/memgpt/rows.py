"""What is read from the file and written to it, each within one transaction."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from aml_adapters.hybrid.entries import Entries, Indexed
from aml_adapters.hybrid.index import UserIndex
from aml_adapters.memgpt.mind import CoreMemory, Mind, Note, Said
from aml_adapters.memgpt.settings import MemGPTSettings
from aml_adapters.memgpt.tools import Kind
from aml_sdk import AddRequest


@dataclass(frozen=True)
class Item:
    """A message or a note as it is given back."""

    id: str
    kind: str
    """``recall``, ``core`` or ``archival``."""
    text: str
    timestamp: int | None
    source: int | None = None


@dataclass(frozen=True)
class User:
    """What is read of a user before anything else."""

    key: int
    epoch: int
    next_sequence: int


class Snapshot:
    """What the file held when the transaction began."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self.entries = Entries(connection)

    def user(self, user_id: str) -> User | None:
        """The user, ``None`` for one who is unknown."""
        row = self._connection.execute(
            "SELECT key, epoch, next_sequence FROM user WHERE user_id = ?", (user_id,)
        ).fetchone()
        return None if row is None else User(*row)

    def digest(self, user: User, request_id: str) -> bytes | None:
        """The digest of a stored Add, ``None`` if it is not stored."""
        row = self._connection.execute(
            "SELECT digest FROM request WHERE user = ? AND request_id = ?",
            (user.key, request_id),
        ).fetchone()
        return None if row is None else row[0]

    def mind(self, user: User | None, settings: MemGPTSettings) -> Mind:
        """What the user's agent has in mind; an empty one for a new user."""
        if user is None:
            return Mind(CoreMemory((), settings.block_characters))
        run = self._connection.execute
        summary, evicted, warned = run(
            "SELECT summary, evicted, warned FROM user WHERE key = ?", (user.key,)
        ).fetchone()
        messages = run(
            "SELECT sequence, role, timestamp, content FROM message"
            " WHERE user = ? AND sequence > ? ORDER BY sequence",
            (user.key, evicted),
        )
        queue = [
            Said.shown(sequence, role, timestamp, content, settings.message_tokens)
            for sequence, role, timestamp, content in messages
        ]
        return Mind(
            self._core(user, settings.block_characters), queue, summary, evicted, bool(warned)
        )

    def item(self, user: User, sequence: int) -> Item:
        """The message or note with a sequence number."""
        run, place = self._connection.execute, (user.key, sequence)
        message = run(
            "SELECT id, 'recall', content, timestamp FROM message WHERE user = ? AND sequence = ?",
            place,
        ).fetchone()
        if message is not None:
            return Item(*message)
        note = run(
            "SELECT id, kind, text, timestamp, source FROM note WHERE user = ? AND sequence = ?",
            place,
        ).fetchone()
        return Item(*note)

    def of_kind(self, user: User, index: UserIndex, kind: Kind) -> npt.NDArray[np.bool_]:
        """For each row of the user's index whether it is a message, or a passage of the archive."""
        written = index.sessions < 0
        if kind == "recall":
            return ~written
        core = self._connection.execute(
            "SELECT sequence FROM note WHERE user = ? AND kind = 'core'", (user.key,)
        )
        return written & ~np.isin(index.sequences, [sequence for (sequence,) in core])

    def _core(self, user: User, limit: int) -> CoreMemory:
        rows = self._connection.execute(
            "SELECT kind, text, source, timestamp, label, sequence FROM note"
            " WHERE user = ? AND kind = 'core' ORDER BY place",
            (user.key,),
        )
        return CoreMemory((Note(*row) for row in rows), limit)


@dataclass(frozen=True)
class NewMessage:
    """A message to be stored, and what finds it."""

    id: str
    sequence: int
    role: str
    timestamp: int | None
    content: str
    indexed: Indexed


@dataclass(frozen=True)
class NewNote:
    """A note to be stored, and what finds it."""

    id: str
    note: Note
    indexed: Indexed


class Transaction(Snapshot):
    """A snapshot that may be changed; kept whole or not at all."""

    def put(
        self,
        request: AddRequest,
        digest: bytes,
        messages: Sequence[NewMessage],
        notes: Sequence[NewNote],
        mind: Mind,
    ) -> None:
        """Store an Add: its messages, and the mind that has read them.

        Args:
            request: whose ids it is stored under.
            digest: of what it says.
            messages: numbered from the user's ``next_sequence`` on.
            notes: those of the mind that are not stored yet.
            mind: its core memory replaces the stored one.
        """
        run = self._connection.execute
        run("INSERT INTO user (user_id) VALUES (?) ON CONFLICT DO NOTHING", (request.user_id,))
        user = self.user(request.user_id)
        assert user is not None  # just inserted
        run("INSERT INTO request VALUES (?, ?, ?)", (user.key, request.request_id, digest))
        session = self._session(user, request.session_id)
        self._connection.executemany(
            "INSERT INTO message VALUES (?, ?, ?, ?, ?, ?)",
            (
                (user.key, each.sequence, each.id, each.role, each.timestamp, each.content)
                for each in messages
            ),
        )
        entries = [(each.sequence, session, each.indexed) for each in messages]
        sequence = user.next_sequence + len(messages)
        numbers: dict[int, int] = {}
        for new in notes:
            numbers[id(new.note)] = sequence
            self._insert(user, sequence, new)
            # A session of its own: a note has no neighbours. Those of messages are positive.
            entries.append((sequence, -1 - sequence, new.indexed))
            sequence += 1
        self.entries.put(user.key, entries)
        places = [
            numbers[id(note)] if note.sequence is None else note.sequence
            for note in mind.core.notes
        ]
        removed = self._arrange(user, places)
        run(
            "UPDATE user SET next_sequence = ?, summary = ?, evicted = ?, warned = ?,"
            " epoch = epoch + ? WHERE key = ?",
            (sequence, mind.summary, mind.evicted, mind.warned, removed, user.key),
        )

    def remove_user(self, user_id: str) -> int | None:
        """Remove everything of a user and return the key that was theirs."""
        user = self.user(user_id)
        if user is None:
            return None
        self.entries.remove_user(user.key)
        for table in ("message", "note", "request", "session"):
            self._connection.execute(f"DELETE FROM {table} WHERE user = ?", (user.key,))  # noqa: S608  fixed names
        self._connection.execute("DELETE FROM user WHERE key = ?", (user.key,))
        return user.key

    def _session(self, user: User, session_id: str) -> int:
        run = self._connection.execute
        run(
            "INSERT INTO session (user, session_id) VALUES (?, ?) ON CONFLICT DO NOTHING",
            (user.key, session_id),
        )
        (key,) = run(
            "SELECT key FROM session WHERE user = ? AND session_id = ?", (user.key, session_id)
        ).fetchone()
        return int(key)

    def _insert(self, user: User, sequence: int, new: NewNote) -> None:
        note = new.note
        self._connection.execute(
            "INSERT INTO note VALUES (?, ?, ?, ?, ?, 0, ?, ?, ?)",
            (
                *(user.key, sequence, new.id, note.kind, note.label),
                *(note.timestamp, note.source, note.text),
            ),
        )

    def _arrange(self, user: User, core: Sequence[int]) -> bool:
        """Leave these lines of core memory, in this order; whether others were removed."""
        run = self._connection.execute
        kept = set(core)
        stored = run("SELECT sequence FROM note WHERE user = ? AND kind = 'core'", (user.key,))
        gone = [sequence for (sequence,) in stored if sequence not in kept]
        for sequence in gone:
            run("DELETE FROM note WHERE user = ? AND sequence = ?", (user.key, sequence))
            self.entries.remove(user.key, sequence, sequence)
        self._connection.executemany(
            "UPDATE note SET place = ? WHERE user = ? AND sequence = ?",
            ((place, user.key, sequence) for place, sequence in enumerate(core)),
        )
        return bool(gone)
