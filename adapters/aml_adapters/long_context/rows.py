"""Sessions in parts: what is read from the file and written to it within one transaction."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from aml_sdk.tokens import count

SCHEMA_VERSION = 1
SCHEMA = """
CREATE TABLE user (key INTEGER PRIMARY KEY AUTOINCREMENT, user_id TEXT NOT NULL UNIQUE);

-- A session, or as much of it as one item shows. tokens: of the text that the item shows.
-- time: the latest timestamp, -1 without any. arrival: the newest message.
CREATE TABLE part (
    key INTEGER PRIMARY KEY AUTOINCREMENT,
    user INTEGER NOT NULL REFERENCES user,
    session_id TEXT NOT NULL,
    number INTEGER NOT NULL,
    tokens INTEGER NOT NULL DEFAULT 0,
    time INTEGER NOT NULL DEFAULT -1,
    arrival INTEGER NOT NULL DEFAULT 0,
    UNIQUE (user, session_id, number)
);
CREATE INDEX part_by_time ON part (user, time DESC, arrival DESC);

-- arrival: counts all messages. chunk_time: the first timestamp of its Add, -1 without any.
CREATE TABLE message (
    arrival INTEGER PRIMARY KEY AUTOINCREMENT,
    user INTEGER NOT NULL REFERENCES user,
    part INTEGER NOT NULL REFERENCES part,
    request_id TEXT NOT NULL,
    chunk_time INTEGER NOT NULL,
    timestamp INTEGER,
    role TEXT NOT NULL,
    tokens INTEGER NOT NULL,
    content TEXT NOT NULL
);
CREATE INDEX message_by_part ON message (part, chunk_time, arrival);
CREATE INDEX message_by_request ON message (user, request_id);
"""

UNDATED = -1
"""Stands for a missing timestamp; real ones are not negative (clause A7)."""

_BETWEEN = "\n\n"


@dataclass(frozen=True)
class Said:
    """One message as it is kept; ``tokens`` is what it adds to an item at most, or nearly so."""

    role: str
    timestamp: int | None
    tokens: int
    content: str


def counted(role: str, timestamp: int | None, content: str) -> Said:
    """The message with its tokens counted."""
    return Said(role, timestamp, count(f"{role}: {content}{_BETWEEN}"), content)


def shown(said: Sequence[Said]) -> str:
    """The text of an item: messages parted by empty lines, after their roles if they differ."""
    several = len({each.role for each in said}) > 1
    return _BETWEEN.join(
        f"{each.role}: {each.content}" if several else each.content for each in said
    )


@dataclass(frozen=True)
class Part:
    """A session, or a part of a long one, without its messages."""

    key: int
    session_id: str
    number: int
    tokens: int


class Rows:
    """The tables of one transaction; a reader's must not be changed."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def user(self, user_id: str) -> int | None:
        """The user's key, ``None`` for one who is unknown."""
        row = self._connection.execute(
            "SELECT key FROM user WHERE user_id = ?", (user_id,)
        ).fetchone()
        return None if row is None else int(row[0])

    def parts(self, user: int) -> Iterator[Part]:
        """A user's parts, the latest first: by event time, then by arrival."""
        rows = self._connection.execute(
            "SELECT key, session_id, number, tokens FROM part WHERE user = ?"
            " ORDER BY time DESC, arrival DESC",
            (user,),
        )
        return (Part(*row) for row in rows)

    def said(self, part: int) -> list[Said]:
        """A part's messages in the order in which they were said.

        Chunks stand in order of their time, else of arrival, so that one that comes late
        stands where it belongs (clause R6); in a chunk the source order holds (clause A4).
        """
        rows = self._connection.execute(
            "SELECT role, timestamp, tokens, content FROM message WHERE part = ?"
            " ORDER BY chunk_time, arrival",
            (part,),
        )
        return [Said(*row) for row in rows]

    def request(self, user: int, request_id: str) -> list[Said]:
        """What a request stored, in its order."""
        rows = self._connection.execute(
            "SELECT role, timestamp, tokens, content FROM message"
            " WHERE user = ? AND request_id = ? ORDER BY arrival",
            (user, request_id),
        )
        return [Said(*row) for row in rows]

    def put(
        self, user_id: str, request_id: str, session_id: str, said: Sequence[Said], most: int
    ) -> None:
        """Store a request's messages behind their session, instead of what it had stored.

        Args:
            user_id: whose.
            request_id: which request.
            session_id: the session they belong to.
            said: the messages.
            most: tokens that a part holds; only a single message may be longer.
        """
        run = self._connection.execute
        (user,) = run(
            "INSERT INTO user (user_id) VALUES (?)"
            " ON CONFLICT DO UPDATE SET user_id = user_id RETURNING key",
            (user_id,),
        ).fetchone()
        if self.request(user, request_id) == list(said):
            return
        self.remove_request(user_id, request_id)
        dated = (each.timestamp for each in said if each.timestamp is not None)
        chunk_time = next(dated, UNDATED)
        part, left = self._open_part(user, session_id, most)
        # A chunk is not torn where it fits into a part of its own.
        whole = sum(each.tokens for each in said)
        changed = {part}
        if left < whole <= most and left < most:
            part, left = self._next_part(user, session_id), most
        for each in said:
            if left < each.tokens and left < most:
                part, left = self._next_part(user, session_id), most
            left -= each.tokens
            changed.add(part)
            run(
                "INSERT INTO message (user, part, request_id, chunk_time, timestamp, role, tokens,"
                " content) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                (
                    *(user, part, request_id, chunk_time),
                    *(each.timestamp, each.role, each.tokens, each.content),
                ),
            )
        self._sum_up(changed)

    def remove_request(self, user_id: str, request_id: str) -> None:
        """Remove what a request stored."""
        which = (self.user(user_id), request_id)
        changed = self._connection.execute(
            "SELECT DISTINCT part FROM message WHERE user = ? AND request_id = ?", which
        ).fetchall()
        self._connection.execute("DELETE FROM message WHERE user = ? AND request_id = ?", which)
        self._sum_up({part for (part,) in changed})

    def remove_user(self, user_id: str) -> None:
        """Remove everything of a user."""
        user = self.user(user_id)
        for table in ("message", "part"):
            self._connection.execute(f"DELETE FROM {table} WHERE user = ?", (user,))  # noqa: S608  fixed names
        self._connection.execute("DELETE FROM user WHERE key = ?", (user,))

    def _open_part(self, user: int, session_id: str, most: int) -> tuple[int, int]:
        """The last part of a session, made if need be, and the tokens that it has left."""
        row = self._connection.execute(
            "SELECT key, tokens FROM part WHERE user = ? AND session_id = ?"
            " ORDER BY number DESC LIMIT 1",
            (user, session_id),
        ).fetchone()
        if row is None:
            return self._next_part(user, session_id), most
        return row[0], most - row[1]

    def _next_part(self, user: int, session_id: str) -> int:
        (key,) = self._connection.execute(
            "INSERT INTO part (user, session_id, number) SELECT ?1, ?2, coalesce(max(number), -1)"
            " + 1 FROM part WHERE user = ?1 AND session_id = ?2 RETURNING key",
            (user, session_id),
        ).fetchone()
        return int(key)

    def _sum_up(self, parts: set[int]) -> None:
        """Bring what is kept of parts up to date; one without messages goes."""
        for part in parts:
            time, arrival = self._connection.execute(
                "SELECT coalesce(max(timestamp), ?), max(arrival) FROM message WHERE part = ?",
                (UNDATED, part),
            ).fetchone()
            if arrival is None:
                self._connection.execute("DELETE FROM part WHERE key = ?", (part,))
            else:
                self._connection.execute(
                    "UPDATE part SET tokens = ?, time = ?, arrival = ? WHERE key = ?",
                    (count(shown(self.said(part))), time, arrival, part),
                )
