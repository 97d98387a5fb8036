"""What ranking needs to know of one user's memories, in memory: arrays, one row each."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from aml_adapters.hybrid.embedding import Vectors, norms

Integers = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]

UNDATED = -1
"""Stands for a missing timestamp; real ones are not negative (clause A7)."""


@dataclass(frozen=True)
class Entry:
    """One stored message as ranking sees it.

    ``sequence`` counts a user's messages as they arrived. ``chunk_time`` is the first
    timestamp of the Add that brought the message, :data:`UNDATED` without one.
    """

    sequence: int
    session: int
    chunk_time: int
    timestamp: int
    length: int
    image_bytes: int
    vector: bytes


@dataclass(frozen=True)
class UserIndex:
    """One user's memories in order of arrival, and who stands beside whom. Never altered.

    ``epoch`` changes when something is removed: an index of another epoch is useless,
    one of the same epoch lacks at most the newest rows.
    """

    epoch: int
    sequences: Integers
    sessions: Integers
    chunk_times: Integers
    timestamps: Integers
    lengths: Integers
    image_bytes: Integers
    vectors: Vectors
    norms: Floats
    before: Integers
    """Row of the message before it in its session; the number of rows where there is none."""
    after: Integers

    @classmethod
    def empty(cls, epoch: int) -> UserIndex:
        """An index of nothing, to be extended; its first entries say how long vectors are."""
        none = np.zeros(0, np.int64)
        vectors = np.zeros((0, 0), np.int8)
        return cls(epoch, none, none, none, none, none, none, vectors, norms(vectors), none, none)

    @property
    def last(self) -> int:
        """The newest sequence number; -1 for an empty index."""
        return int(self.sequences[-1]) if len(self.sequences) else -1

    @property
    def size(self) -> int:
        """Bytes in memory, about."""
        return self.vectors.nbytes + len(self.sequences) * 9 * 8

    def extended(self, entries: Sequence[Entry]) -> UserIndex:
        """This index with newer entries, given in order of arrival, behind its own."""
        if not entries:
            return self
        columns = np.array(
            [
                (e.sequence, e.session, e.chunk_time, e.timestamp, e.length, e.image_bytes)
                for e in entries
            ],
            np.int64,
        ).T
        old = (
            self.sequences,
            self.sessions,
            self.chunk_times,
            self.timestamps,
            self.lengths,
            self.image_bytes,
        )
        sequences, sessions, chunk_times, timestamps, lengths, image_bytes = (
            np.concatenate(pair) for pair in zip(old, columns, strict=True)
        )
        new = np.frombuffer(b"".join(e.vector for e in entries), np.int8)
        new = new.reshape(len(entries), -1)
        vectors = np.concatenate((self.vectors, new)) if len(self.vectors) else new
        before, after = _neighbours(sequences, sessions, chunk_times)
        return UserIndex(
            self.epoch,
            sequences,
            sessions,
            chunk_times,
            timestamps,
            lengths,
            image_bytes,
            vectors,
            np.concatenate((self.norms, norms(new))),
            before,
            after,
        )

    def rows(self, sequences: Integers) -> Integers:
        """The rows of these sequence numbers, all of which must be known."""
        return np.searchsorted(self.sequences, sequences)

    def newest_first(self) -> Integers:
        """All rows by event time, latest first; among equals the one that arrived last."""
        return np.lexsort((self.sequences, self.timestamps))[::-1]


def _neighbours(
    sequences: Integers, sessions: Integers, chunk_times: Integers
) -> tuple[Integers, Integers]:
    """Put each session's chunks in order of their time, else of arrival, and join the ends.

    So a chunk that comes late (clause R6) stands where it belongs, and inside a chunk
    the source order holds whatever the timestamps say (clause A4).
    """
    count = len(sequences)
    order = np.lexsort((sequences, chunk_times, sessions))
    together = sessions[order][1:] == sessions[order][:-1]
    before = np.full(count, count, np.int64)
    after = np.full(count, count, np.int64)
    before[order[1:][together]] = order[:-1][together]
    after[order[:-1][together]] = order[1:][together]
    return before, after


class IndexCache:
    """The indexes of the users who were searched last, within a number of bytes.

    Safe to use from several threads at once; an index is never altered, only replaced.
    """

    def __init__(self, size: int) -> None:
        self._size = size
        self._used = 0
        self._indexes: OrderedDict[int, UserIndex] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, user: int) -> UserIndex | None:
        """The index of a user, if it is still here."""
        with self._lock:
            if user in self._indexes:
                self._indexes.move_to_end(user)
            return self._indexes.get(user)

    def put(self, user: int, index: UserIndex) -> None:
        """Keep an index, and drop those unused for longest."""
        with self._lock:
            self._drop(user)
            self._indexes[user] = index
            self._used += index.size
            while self._used > self._size and len(self._indexes) > 1:
                self._drop(next(iter(self._indexes)))

    def drop(self, user: int) -> None:
        """Forget a user."""
        with self._lock:
            self._drop(user)

    def _drop(self, user: int) -> None:
        known = self._indexes.pop(user, None)
        if known:
            self._used -= known.size
