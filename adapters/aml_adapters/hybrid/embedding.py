"""Vectors as the file keeps them: signed bytes, made from an embedder's.

Products of such vectors are whole numbers below 2^24, which 32-bit floats add exactly in
any order: equal input gives equal scores, whatever the number of rows or the instructions
of the machine.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from aml_adapters.embedders.static import DIMENSIONS, StaticEmbedder

__all__ = ["DIMENSIONS", "Embedder", "Vectors", "cosines", "norms", "rounded"]

_BLOCK = 1_024  # rows converted at a time, so that a large matrix is never doubled

Vectors = npt.NDArray[np.int8]


class Embedder:
    """The static embedder, rounded. Safe to use from several threads at once."""

    fingerprint = f"{StaticEmbedder.fingerprint} int8"
    """Vectors compare only with vectors of the same fingerprint."""

    def __init__(self) -> None:
        self._embedder = StaticEmbedder()

    def embed(self, texts: Sequence[str]) -> Vectors:
        """One row of :data:`DIMENSIONS` signed bytes for each text."""
        return rounded(self._embedder.embed(texts))


def rounded(exact: npt.NDArray[np.float32]) -> Vectors:
    """Each row scaled so that its largest number is 127, in whole numbers."""
    largest = np.abs(exact).max(axis=1, keepdims=True, initial=1e-9)
    vectors: Vectors = np.rint(exact * (127 / largest)).astype(np.int8)
    return vectors


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
