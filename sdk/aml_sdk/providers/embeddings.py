"""Vectors of texts, in as few requests as the server's limits allow."""

from __future__ import annotations

import base64
import binascii
import logging
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import openai

from aml_sdk import tokens
from aml_sdk.errors import Misconfigured
from aml_sdk.providers.connection import Connection
from aml_sdk.providers.settings import ProviderSettings
from aml_sdk.providers.trouble import log

Vectors = npt.NDArray[np.float32]

_NOTHING = "."
"""Stands for a blank text, which servers refuse."""


class EmbeddingModel:
    """The embedding model of the settings. Blocking; safe to use from several threads at once.

    Raises:
        Misconfigured: the settings name none.
    """

    def __init__(self, settings: ProviderSettings) -> None:
        if settings.embedding is None:
            raise Misconfigured(
                "no embedding model: set AML_EMBEDDING_BASE_URL and AML_EMBEDDING_MODEL"
            )
        self._connection = Connection(settings.embedding, "AML_EMBEDDING", settings)
        self._settings = settings
        self._dimensions = settings.dimensions

    @property
    def model(self) -> str:
        """Its name."""
        return self._connection.model

    @property
    def dimensions(self) -> int:
        """Length of a vector; if neither set nor seen yet, the model is asked.

        Raises:
            Unavailable: it does not answer.
        """
        if self._dimensions is None:
            self.embed([_NOTHING])
        assert self._dimensions is not None
        return self._dimensions

    def embed(self, texts: Sequence[str]) -> Vectors:
        """One row for each text, as the model gave it: finite, of any length but zero.

        A text beyond ``text_tokens`` is embedded by its beginning.

        Raises:
            Unavailable: the provider does not answer; tried again already.
            ProviderRefusal: it refuses one of the texts.
        """
        batches = [self._batch(batch) for batch in self._batches(texts)]
        return np.concatenate(batches) if batches else np.zeros((0, self.dimensions), np.float32)

    def close(self) -> None:
        """Close the connections."""
        self._connection.close()

    def _batches(self, texts: Sequence[str]) -> Iterator[list[str]]:
        """The texts in order, cut to size, in groups within the limits."""
        batch: list[str] = []
        room = self._settings.batch_tokens
        for text in texts:
            sent = tokens.cut(text, self._settings.text_tokens) if text.strip() else _NOTHING
            size = tokens.count(sent)
            if batch and (size > room or len(batch) == self._settings.batch_texts):
                yield batch
                batch, room = [], self._settings.batch_tokens
            batch.append(sent)
            room -= size
        if batch:
            yield batch

    def _batch(self, texts: list[str]) -> Vectors:
        answer, ms = self._connection.call(
            lambda client: client.embeddings.create(
                model=self.model,
                input=texts,
                # Said, because the library's own default is Base64, which not all servers know.
                encoding_format="float",
                dimensions=self._settings.dimensions or openai.omit,
                extra_headers=self._connection.headers,
            )
        )
        usage = getattr(answer, "usage", None)
        log(
            logging.INFO,
            "embeddings",
            model=self.model,
            ms=ms,
            texts=len(texts),
            prompt_tokens=getattr(usage, "prompt_tokens", None) or 0,
        )
        try:
            vectors = _vectors(answer, len(texts))
        except (AttributeError, TypeError, ValueError, binascii.Error) as error:
            raise self._connection.malformed("the answer is no list of vectors") from error
        if self._dimensions is None:
            self._dimensions = vectors.shape[1]
        if vectors.shape[1] != self._dimensions:
            raise self._connection.malformed(
                f"vectors of {vectors.shape[1]} numbers, not {self._dimensions}:"
                " check AML_EMBEDDING_DIMENSIONS"
            )
        return vectors


def _vectors(answer: Any, count: int) -> Vectors:
    """The vectors in the order of the texts; raises what reading a stranger's answer raises."""
    items = sorted(answer.data, key=lambda item: item.index)
    if [item.index for item in items] != list(range(count)):
        raise ValueError("not one vector for each text")
    vectors = np.array([_vector(item.embedding) for item in items], np.float32)
    if vectors.ndim != 2 or not np.isfinite(vectors).all() or not vectors.any(axis=1).all():
        raise ValueError("not a finite vector for each text")
    return vectors


def _vector(embedding: Any) -> Any:
    """A list of numbers, or Base64 of 32-bit floats, which some servers send unasked."""
    if isinstance(embedding, str):
        return np.frombuffer(base64.b64decode(embedding, validate=True), "<f4")
    return embedding
