"""Everything a user said, newest sessions first, as much as the answer model reads."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Literal, get_args

from aml_adapters.long_context.rows import SCHEMA, SCHEMA_VERSION, Part, Rows, Said, counted, shown
from aml_adapters.sqlite_file import SQLiteFile
from aml_sdk import AddRequest, Memory, MemorySystem, Misconfigured, SearchRequest, Unavailable
from aml_sdk.content import event_time, is_blank, is_blank_content, text_of
from aml_sdk.data_dir import DataDirectory
from aml_sdk.identity import memory_id
from aml_sdk.tokens import count

Order = Literal["newest", "oldest"]
"""Which session comes first in an answer."""

_PARTS = 4
"""A part of a session is at most this part of the budget: one session never fills it alone."""


@dataclass(frozen=True, kw_only=True)
class LongContextSettings:
    """What an operator may set. Each field names its environment variable."""

    tokens: int = 117_760
    """``AML_LONG_CONTEXT_TOKENS``: what the answer model reads, by o200k (clause S14)."""
    order: Order = "newest"
    """``AML_LONG_CONTEXT_ORDER``: ``newest`` first, or ``oldest`` first as they were said.
    What is left out when not all fits is the oldest either way."""

    @classmethod
    def from_environment(cls, environment: Mapping[str, str] | None = None) -> LongContextSettings:
        """What the variables say; an empty one counts as unset.

        Raises:
            Misconfigured: no number, or no such order.
        """
        given = os.environ if environment is None else environment
        tokens = given.get("AML_LONG_CONTEXT_TOKENS", "").strip() or str(cls.tokens)
        order = given.get("AML_LONG_CONTEXT_ORDER", "").strip() or cls.order
        if not (tokens.isascii() and tokens.isdigit() and 0 < int(tokens[:10]) < 10**9):
            raise Misconfigured(f"AML_LONG_CONTEXT_TOKENS must be a number, and is {tokens!r}")
        for known in get_args(Order):
            if order == known:
                return cls(tokens=int(tokens), order=known)
        names = " or ".join(get_args(Order))
        raise Misconfigured(f"AML_LONG_CONTEXT_ORDER must be {names}, and is {order!r}")


class LongContextMemory(MemorySystem):
    """Gives the reader all there is, without looking at the question.

    A control: what a reader misses here, no retrieval could have shown it, as long as all
    fits; what it misses elsewhere and not here, retrieval has lost.

    *Stores* each message verbatim in one SQLite file, ``long_context.sqlite3``, and counts the
    tokens of each item that it is shown in.

    *Answers* with whole sessions. An item is a session: its messages in the order in which
    they were said, parted by empty lines, each after its role where a session has several.
    A session of more than a quarter of the budget comes in parts of at most that, cut
    between messages, an item each; only a single longer message makes a larger part. Items
    are taken from the newest on, by event time, as long as they fit into 117,760 o200k
    tokens; one that does not fit is passed over for older ones that do. At most ``top_k``
    are taken: with more sessions than that the oldest are left out, although there may be
    room for their tokens. The newest item comes back even if it is larger than the budget.
    The query and the options make no difference, so the order says nothing about relevance,
    and no scores are given. ``created_at`` is the first known time of the item.

    *Isolates* by ``user_id``, compared exactly.

    *Survives* ``kill -9`` and power loss: an Add is one transaction, synced before it
    returns. Storing the same request again changes nothing. One process owns the directory.

    *Costs*, in milliseconds of one core: an Add 0.8 for each message of 20 words, for the
    tokens of its session are counted anew; a Search what it reads, 14 for a full answer,
    however much is stored. Disk: 2 kB a message of 20 words.

    Args:
        data_dir: directory of the file; made if need be.
        settings: ``None`` reads the environment.

    Raises:
        DataDirectoryBusy: another process owns the directory.
        IncompatibleDataError: the file was written by another version.
        Misconfigured: a variable makes no sense.
    """

    def __init__(self, data_dir: Path, settings: LongContextSettings | None = None) -> None:
        self._settings = settings or LongContextSettings.from_environment()
        self._part = self._settings.tokens // _PARTS
        count("x")  # loads the vocabulary, half a second, before the first Add
        self._directory = DataDirectory(data_dir, "long_context")
        try:
            self._file = SQLiteFile(data_dir / "long_context.sqlite3", SCHEMA, SCHEMA_VERSION, {})
        except BaseException:
            self._directory.close()
            raise

    def add(self, request: AddRequest) -> None:
        """Store the messages in one transaction."""
        said = [
            counted(message.role, message.timestamp, text_of(message.content))
            for message in request.messages
            if not is_blank(message)
        ]
        if said:
            with self._file.write() as connection:
                Rows(connection).put(
                    request.user_id, request.request_id, request.session_id, said, self._part
                )

    def search(self, request: SearchRequest) -> list[Memory]:
        """The newest sessions that fit, at most ``top_k``; a blank query finds nothing."""
        if is_blank_content(request.query):
            return []
        with self._file.read() as connection:
            rows = Rows(connection)
            user = rows.user(request.user_id)
            if user is None:
                return []
            parts = list(islice(self._fitting(rows.parts(user)), request.top_k))
            if self._settings.order == "oldest":
                parts.reverse()
            return [_memory(request.user_id, part, rows.said(part.key)) for part in parts]

    def health(self) -> bool:
        """Whether the file can be read."""
        try:
            with self._file.read() as connection:
                Rows(connection).user("")
        except Unavailable:
            return False
        return True

    def discard(self, user_id: str, request_id: str) -> None:
        """Remove what a request stored."""
        with self._file.write() as connection:
            Rows(connection).remove_request(user_id, request_id)

    def forget(self, user_id: str) -> None:
        """Remove a user with every message, and overwrite where they were."""
        with self._file.write() as connection:
            Rows(connection).remove_user(user_id)
        self._file.scrub()

    def close(self) -> None:
        """Close the file and give the directory up."""
        self._file.close()
        self._directory.close()

    def _fitting(self, parts: Iterable[Part]) -> Iterator[Part]:
        """The parts that fit into the budget together; the first one always does."""
        left = self._settings.tokens
        for place, part in enumerate(parts):
            if part.tokens <= left or place == 0:
                yield part
                left -= part.tokens


def _memory(user_id: str, part: Part, said: Sequence[Said]) -> Memory:
    times = (event_time(each.timestamp) for each in said)
    time = min((each for each in times if each is not None), default=None)
    return Memory(
        id=memory_id(user_id, part.session_id, part.number),
        content=shown(said),
        created_at=None if time is None else time.isoformat(),
    )
