"""What every embedder offers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np
import numpy.typing as npt

Vectors = npt.NDArray[np.float32]


class Embedder(Protocol):
    """Texts to vectors of length 1. Blocking; safe to use from several threads at once."""

    @property
    def fingerprint(self) -> str:
        """Vectors compare only with vectors of the same fingerprint: keep it with the data."""

    @property
    def dimensions(self) -> int:
        """Numbers in a vector.

        Raises:
            Unavailable: it is not known yet, and the model that knows does not answer.
        """

    def embed(self, texts: Sequence[str]) -> Vectors:
        """One row for each text.

        Raises:
            Unavailable: the model does not answer.
        """

    def close(self) -> None:
        """Release connections."""


def normalised(vectors: Vectors) -> Vectors:
    """The vectors at length 1."""
    lengths = np.sqrt(np.einsum("ij,ij->i", vectors, vectors, dtype=np.float64))
    unit: Vectors = (vectors / np.maximum(lengths, 1e-12)[:, np.newaxis]).astype(np.float32)
    return unit
