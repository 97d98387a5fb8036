"""What is read from the file and written to it, each within one transaction."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from aml_adapters.hybrid.entries import Entries, Indexed


@dataclass(frozen=True)
class Said:
    """One message as it is kept and given back."""

    id: str
    position: int
    role: str
    timestamp: int | None
    parts: bool
    content: str


class Snapshot:
    """What the file held when the transaction began."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self.entries = Entries(connection)

    def user(self, user_id: str) -> tuple[int, int] | None:
        """The user's key and epoch, ``None`` for one who is unknown."""
        row: tuple[int, int] | None = self._connection.execute(
            "SELECT key, epoch FROM user WHERE user_id = ?", (user_id,)
        ).fetchone()
        return row

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
        for number, (said, _) in enumerate(messages, first):
            run(
                "INSERT INTO message (user, sequence, id, request_id, position, session, role,"
                " timestamp, parts, content) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                (
                    *(user, number, said.id, request_id, said.position, session, said.role),
                    *(said.timestamp, said.parts, said.content),
                ),
            )
        self.entries.put(
            user,
            [(number, session, each) for number, (_, each) in enumerate(messages, first)],
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
        self.entries.remove(known[0], first, last)
        self._connection.execute("UPDATE user SET epoch = epoch + 1 WHERE key = ?", (known[0],))

    def remove_user(self, user_id: str) -> int | None:
        """Remove everything of a user and return the key that was theirs."""
        known = self.user(user_id)
        if known is None:
            return None
        self.entries.remove_user(known[0])
        for table in ("message", "session"):
            self._connection.execute(f"DELETE FROM {table} WHERE user = ?", (known[0],))  # noqa: S608  fixed names
        self._connection.execute("DELETE FROM user WHERE key = ?", (known[0],))
        return known[0]
