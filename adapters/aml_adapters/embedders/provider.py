"""Vectors from the embedding model of a provider."""

from __future__ import annotations

from collections.abc import Sequence

from aml_adapters.embedders.base import Vectors, normalised
from aml_sdk.providers.embeddings import EmbeddingModel
from aml_sdk.providers.settings import ProviderSettings


class ProviderEmbedder:
    """The model that ``AML_EMBEDDING_MODEL`` names.

    Raises:
        Misconfigured: the settings name none.
    """

    def __init__(self, settings: ProviderSettings) -> None:
        self._model = EmbeddingModel(settings)
        # Not the URL: the same model behind another proxy gives the same vectors.
        size = settings.dimensions or "native"
        self.fingerprint = f"{self._model.model} {size} first-{settings.text_tokens}-tokens"

    @property
    def dimensions(self) -> int:
        """Numbers in a vector; the model is asked unless they are set.

        Raises:
            Unavailable: it does not answer.
        """
        return self._model.dimensions

    def embed(self, texts: Sequence[str]) -> Vectors:
        """One row for each text.

        Raises:
            Unavailable: the provider does not answer; tried again already.
        """
        return normalised(self._model.embed(texts))

    def close(self) -> None:
        """Close the connections."""
        self._model.close()
