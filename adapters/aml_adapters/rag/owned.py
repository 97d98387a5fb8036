"""One owner's passages as a matrix, and those of the owners who asked last."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from aml_adapters.embedders.base import Vectors


@dataclass(frozen=True)
class Owned:
    """All passages of an owner, sorted by id: those of one memory stand together, in order."""

    ids: tuple[str, ...]
    vectors: Vectors
    firsts: npt.NDArray[np.int64]
    """Row of the first passage of each memory."""

    def nearest(self, query: Vectors) -> list[tuple[float, Sequence[str]]]:
        """All memories, best first: cosine of the best passage, and ids of the passages.

        Each row's product is its own, whatever other rows there are; equal ones go by id.
        """
        if not self.ids:
            return []
        # Not `vectors @ query`: BLAS would start threads, slower on busy cores.
        cosines = np.einsum("ij,j->i", self.vectors, query)
        best = np.maximum.reduceat(cosines, self.firsts).astype(np.float64).round(6)
        ends = [*self.firsts[1:].tolist(), len(self.ids)]
        return [
            (float(best[memory]), self.ids[int(self.firsts[memory]) : ends[memory]])
            for memory in np.argsort(-best, kind="stable").tolist()
        ]


class OwnedCache:
    """Keeps matrices within a number of bytes. An id always stands for the same vector."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._owned: OrderedDict[str, Owned] = OrderedDict()
        self._lock = threading.Lock()

    def get(
        self,
        owner: str,
        ids: Sequence[str],
        fetch: Callable[[Sequence[str]], Mapping[str, Vectors]],
    ) -> Owned:
        """The matrix of exactly these ids, but for those that ``fetch`` finds gone.

        Only vectors that were not here yet are fetched.
        """
        wanted = tuple(sorted(ids))
        with self._lock:
            known = self._owned.get(owner)
        if known is None or known.ids != wanted:
            known = _owned(known, wanted, fetch)
        with self._lock:
            self._owned[owner] = known
            self._owned.move_to_end(owner)
            while len(self._owned) > 1 and self._used() > self._size:
                self._owned.popitem(last=False)
        return known

    def drop(self, owner: str) -> None:
        """Forget an owner."""
        with self._lock:
            self._owned.pop(owner, None)

    def _used(self) -> int:
        return sum(each.vectors.nbytes + 100 * len(each.ids) for each in self._owned.values())


def _owned(
    known: Owned | None,
    wanted: Sequence[str],
    fetch: Callable[[Sequence[str]], Mapping[str, Vectors]],
) -> Owned:
    rows = {} if known is None else dict(zip(known.ids, known.vectors, strict=True))
    fetched = fetch([each for each in wanted if each not in rows])
    rows = {
        each: rows[each] if each in rows else fetched[each]
        for each in wanted
        if each in rows or each in fetched
    }
    ids = tuple(rows)
    memories = [memory_of(each) for each in ids]
    firsts = [row for row, memory in enumerate(memories) if not row or memory != memories[row - 1]]
    vectors = np.stack(list(rows.values())) if rows else np.zeros((0, 0), np.float32)
    return Owned(ids, vectors, np.array(firsts, np.int64))


def passage_id(memory: str, number: int, digest: str) -> str:
    """The id of a memory's passage; with its text's digest, so that it stands for one vector."""
    return f"{memory}.{number:02d}.{digest}"


def memory_of(passage: str) -> str:
    """The id of the memory that a passage is of."""
    return passage.partition(".")[0]
