"""The libraries behind ``rag`` and ``mem0``, used as their own documentation does.

What an adapter costs is told beside these. They keep nothing of the contract: ids are not
mapped, a repeated Add is stored twice, and what is found depends on other users.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import chromadb
from chromadb.config import Settings

from aml_adapters.embedders.static import StaticEmbedder
from aml_adapters.mem0.library import open_memory
from aml_sdk import AddRequest, Memory, MemorySystem, SearchRequest
from aml_sdk.content import text_of
from aml_sdk.identity import memory_id


class Chroma(MemorySystem):
    """A collection of messages; Chroma's own filtered query over its index."""

    def __init__(self, data_dir: Path) -> None:
        quiet = Settings(anonymized_telemetry=False)
        self._client: Any = chromadb.PersistentClient(str(data_dir / "chroma"), settings=quiet)
        self._collection = self._client.get_or_create_collection(
            "messages", embedding_function=None, configuration={"hnsw": {"space": "cosine"}}
        )
        self._embedder = StaticEmbedder()

    def add(self, request: AddRequest) -> None:
        """One call for all messages."""
        user, name = request.user_id, request.request_id
        texts = [text_of(message.content) for message in request.messages]
        self._collection.add(
            ids=[memory_id(user, name, position) for position in range(len(texts))],
            documents=texts,
            embeddings=self._embedder.embed(texts),
            metadatas=[{"user_id": user} for _ in texts],
        )

    def search(self, request: SearchRequest) -> list[Memory]:
        """The nearest messages of the user."""
        found = self._collection.query(
            query_embeddings=self._embedder.embed([text_of(request.query)]),
            n_results=request.top_k,
            where={"user_id": request.user_id},
            include=["documents"],
        )
        [texts] = found["documents"] or [[]]
        return [
            Memory(id=id_, content=text) for id_, text in zip(found["ids"][0], texts, strict=True)
        ]

    def close(self) -> None:
        """Close Chroma's files."""
        self._client.close()


class Mem0(MemorySystem):
    """Mem0's ``add(infer=False)`` and ``search``, with the adapter's embedder and its Chroma."""

    def __init__(self, data_dir: Path) -> None:
        self._memory = open_memory(data_dir)
        self._memory.embedding_model = _Embedding()

    def add(self, request: AddRequest) -> None:
        """One call for all messages."""
        said = [{"role": each.role, "content": text_of(each.content)} for each in request.messages]
        self._memory.add(said, user_id=request.user_id, infer=False)

    def search(self, request: SearchRequest) -> list[Memory]:
        """The user's memories, none cut off."""
        found = self._memory.search(
            text_of(request.query),
            filters={"user_id": request.user_id},
            top_k=request.top_k,
            threshold=0.0,
        )["results"]
        return [Memory(id=each["id"], content=each["memory"]) for each in found]

    def close(self) -> None:
        """Close Mem0's files."""
        self._memory.close()


class _Embedding:
    """What Mem0 asks of an embedder."""

    def __init__(self) -> None:
        self._embedder = StaticEmbedder()

    def embed(self, text: str, memory_action: str | None = None) -> Any:
        return self.embed_batch([text], memory_action)[0]

    def embed_batch(self, texts: Sequence[str], memory_action: str | None = None) -> Any:
        return self._embedder.embed(texts).tolist()
