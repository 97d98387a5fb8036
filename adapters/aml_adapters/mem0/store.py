"""Mem0's Chroma collection, searched exactly.

Chroma's own index is approximate: which of a user's memories it finds depends on what others
stored (clause S15), and of many equal vectors it may lose some. A user's vectors are few, so
all of them are compared.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

_CACHE = 64 << 20
"""Bytes of vectors kept: about 30,000 memories."""
_MOST = 5_000
"""Rows of one call; Chroma takes 5,461."""


@dataclass(frozen=True)
class Row:
    """A memory as Mem0 wants to see it."""

    id: str
    score: float | None
    payload: dict[str, Any]


@dataclass(frozen=True)
class _New:
    """A row to be written."""

    id: str
    vector: Sequence[float]
    payload: dict[str, Any]


@dataclass(frozen=True)
class _Partition:
    """All rows of a user, side by side. Never altered."""

    ids: npt.NDArray[np.str_]
    runs: npt.NDArray[np.str_]
    vectors: npt.NDArray[np.float32]

    def extended(self, rows: Sequence[_New]) -> _Partition:
        """This one with more rows."""
        return _Partition(
            np.append(self.ids, [row.id for row in rows]),
            np.append(self.runs, [row.payload["run_id"] for row in rows]),
            np.concatenate((self.vectors, np.array([row.vector for row in rows], np.float32))),
        )

    def nearest(self, vector: npt.NDArray[np.float32], run: str | None) -> list[tuple[str, float]]:
        """Ids and squared distances, nearest first; among equals by id."""
        # Not BLAS, whose threads are slow on busy cores; rounded, so that the number of rows
        # does not change which of two equal ones is first.
        difference = self.vectors - vector
        distances = np.einsum("ij,ij->i", difference, difference, dtype=np.float64).round(6)
        order = np.lexsort((self.ids, distances))
        if run is not None:
            order = order[self.runs[order] == run]
        return [(str(self.ids[row]), float(distances[row])) for row in order]


class ExactStore:
    """What Mem0 asks of a vector store, and no more. Not safe to use from two threads at once.

    Args:
        collection: Chroma's, with the default distance: squared Euclidean.
        empty_log: clears from Chroma's files what was deleted, and returns the collection anew.
    """

    def __init__(self, collection: Any, empty_log: Callable[[], Any]) -> None:
        self._collection = collection
        self._empty_log = empty_log
        self._partitions: OrderedDict[str, _Partition] = OrderedDict()
        self._held: list[_New] | None = None

    @contextmanager
    def together(self) -> Iterator[None]:
        """Write what is inserted in the block when it has ended well, in one transaction.

        Mem0 inserts message by message, and each write waits for the disk.
        """
        self._held = []
        try:
            yield
            for start in range(0, len(self._held), _MOST):
                self._write(self._held[start : start + _MOST])
        finally:
            self._held = None

    def insert(
        self,
        vectors: Sequence[Sequence[float]],
        payloads: Sequence[dict[str, Any]],
        ids: Sequence[str],
    ) -> None:
        """Add rows, each with the scope that its payload names."""
        rows = [_New(*row) for row in zip(ids, vectors, payloads, strict=True)]
        if self._held is None:
            self._write(rows)
        else:
            self._held += rows

    def search(
        self, query: str, vectors: Sequence[float], top_k: int, filters: Mapping[str, str]
    ) -> list[Row]:
        """The nearest rows of ``filters["user_id"]``, scored as Mem0 scores Chroma's distances."""
        user = filters["user_id"]
        partition = self._partition(user)
        nearest = partition.nearest(np.array(vectors, np.float32), filters.get("run_id"))[:top_k]
        payloads = self._payloads([id_ for id_, _ in nearest])
        return [Row(id_, 1 / (1 + distance), payloads[id_]) for id_, distance in nearest]

    def keyword_search(self, query: str, top_k: int, filters: Mapping[str, str]) -> None:
        """Chroma has none: Mem0 ranks by meaning alone."""

    def ids(self, where: Mapping[str, str]) -> list[str]:
        """The rows whose payload has all these values."""
        clauses = [{name: {"$eq": value}} for name, value in where.items()]
        condition = clauses[0] if len(clauses) == 1 else {"$and": clauses}
        found: list[str] = self._collection.get(where=condition, include=[])["ids"]
        return found

    def remove(self, user: str, ids: Sequence[str]) -> None:
        """Remove rows of a user. Their bytes stay in Chroma's files for a while."""
        for page in _pages(ids):
            self._collection.delete(ids=page)
        self._partitions.pop(user, None)

    def erase(self, user: str, ids: Sequence[str]) -> None:
        """Remove rows of a user, also from Chroma's log and its index's file.

        The index only marks what is deleted, so vectors are overwritten first.
        """
        for page in _pages(ids):
            [vector] = self._collection.get(ids=page[:1], include=["embeddings"])["embeddings"]
            blank = np.zeros((len(page), len(vector)), np.float32)
            self._collection.update(ids=page, embeddings=blank)
        self.remove(user, ids)
        if ids:
            self._collection = self._empty_log()

    def ping(self) -> None:
        """Raise if the collection cannot be read."""
        self._collection.count()

    def _write(self, rows: Sequence[_New]) -> None:
        self._collection.add(
            ids=[row.id for row in rows],
            embeddings=[row.vector for row in rows],
            metadatas=[row.payload for row in rows],
        )
        for user in {row.payload["user_id"] for row in rows}:
            known = self._partitions.get(user)
            if known is not None:
                new = [row for row in rows if row.payload["user_id"] == user]
                self._keep(user, known.extended(new))

    def _payloads(self, ids: list[str]) -> dict[str, dict[str, Any]]:
        payloads: dict[str, dict[str, Any]] = {}
        for page in _pages(ids):
            rows = self._collection.get(ids=page, include=["metadatas"])
            payloads |= dict(zip(rows["ids"], rows["metadatas"], strict=True))
        return payloads

    def _partition(self, user: str) -> _Partition:
        known = self._partitions.get(user)
        if known is not None:
            self._partitions.move_to_end(user)
            return known
        rows = self._collection.get(
            where={"user_id": {"$eq": user}}, include=["embeddings", "metadatas"]
        )
        count = len(rows["ids"])
        partition = _Partition(
            np.array(rows["ids"], np.str_),
            np.array([payload["run_id"] for payload in rows["metadatas"]], np.str_),
            np.array(rows["embeddings"], np.float32).reshape(count, -1)
            if count
            else np.zeros((0, 1), np.float32),
        )
        if count:
            self._keep(user, partition)
        return partition

    def _keep(self, user: str, partition: _Partition) -> None:
        """Keep a user's rows, and drop those of users who were searched longest ago."""
        self._partitions[user] = partition
        self._partitions.move_to_end(user)
        size = sum(each.vectors.nbytes for each in self._partitions.values())
        while size > _CACHE and len(self._partitions) > 1:
            _, dropped = self._partitions.popitem(last=False)
            size -= dropped.vectors.nbytes


def _pages(ids: Sequence[str]) -> Iterator[list[str]]:
    """The ids in groups that one call takes."""
    for start in range(0, len(ids), _MOST):
        yield list(ids[start : start + _MOST])
