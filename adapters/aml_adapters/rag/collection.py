"""One Chroma collection: what is asked of it, in files or on a server.

Chroma's ways that matter here: without ``embedding_function=None`` it downloads a model;
``upsert`` keeps old metadata that the new lacks, so all records have the same keys; a
metadata value is never ``None``; one call takes a limited number of records. Texts are kept
as metadata: of a ``document`` Chroma makes a full-text index too, which nothing here asks, and
in which pieces of what was deleted stay, even through ``chroma vacuum``.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import chromadb
import httpx
import numpy as np
from chromadb.errors import ChromaError, NotFoundError

from aml_adapters.chroma_files import UNWRITTEN, ChromaFiles, quiet_settings
from aml_adapters.embedders.base import Vectors
from aml_adapters.rag.gate import Gate
from aml_adapters.rag.settings import RagSettings
from aml_adapters.sqlite_file import IncompatibleDataError
from aml_sdk.errors import Unavailable

_VERSION = 2
_SYNC = 100
"""Writes after which a Chroma server empties its log: until then what was deleted stands there."""
_TEXT = "text"
"""The key of a record's text."""
_PAGE = 2_000
"""Records in one answer, so that an answer of a server stays below 50 MB."""


@dataclass(frozen=True)
class Record:
    """A passage as Chroma keeps it; its vector goes beside it."""

    id: str
    text: str
    metadata: dict[str, str | int]


class Collection:
    """Records by owner, safe to use from several threads at once.

    Args:
        directory: for Chroma's files, unless ``settings`` name a server.
        settings: which collection, and where.
        embedder: fingerprint of the embedder; vectors of different ones do not compare.

    Raises:
        IncompatibleDataError: the collection was written by another version or embedder.
        Unavailable: there is no answer from the server, or the files cannot be opened.
    """

    def __init__(self, directory: Path, settings: RagSettings, embedder: str) -> None:
        self._gate = Gate()
        self._name = settings.collection
        with _trouble():
            self._files = ChromaFiles(directory) if settings.chroma_url is None else None
            self._client = self._files.client if self._files else _client(settings)
            try:
                self._batch = self._client.get_max_batch_size()
                hnsw = UNWRITTEN if self._files else {"sync_threshold": _SYNC}
                self._collection = _opened(self._client, self._name, embedder, hnsw)
                if self._files:
                    self._collection = self._files.collection(self._name)
            except BaseException:
                self.close()
                raise

    def ids(self, owner: str) -> list[str]:
        """Ids of all records of an owner."""
        with self._asked() as collection:
            return list(collection.get(where={"owner": owner}, include=[])["ids"])

    def vectors(self, ids: Sequence[str]) -> dict[str, Vectors]:
        """Vectors by id, of those that are there."""
        found: dict[str, Vectors] = {}
        for page in _pages(ids, _PAGE):
            with self._asked() as collection:
                answer = collection.get(ids=page, include=["embeddings"])
            rows = np.asarray(answer["embeddings"], np.float32)
            found.update(zip(answer["ids"], rows, strict=True))
        return found

    def records(self, ids: Sequence[str]) -> dict[str, Record]:
        """Records by id, of those that are there."""
        found: dict[str, Record] = {}
        for page in _pages(ids, _PAGE):
            with self._asked() as collection:
                answer = collection.get(ids=page, include=["metadatas"])
            for id_, given in zip(answer["ids"], answer["metadatas"] or [], strict=True):
                metadata: dict[str, Any] = dict(given)  # Chroma's type allows lists
                found[id_] = Record(id_, metadata.pop(_TEXT), metadata)
        return found

    def put(self, records: Sequence[Record], vectors: Vectors) -> None:
        """Store records, or store them again; on disk on return."""
        for start in range(0, len(records), self._batch):
            page = records[start : start + self._batch]
            with self._asked() as collection:
                collection.upsert(
                    ids=[each.id for each in page],
                    metadatas=[{**each.metadata, _TEXT: each.text} for each in page],
                    embeddings=vectors[start : start + len(page)],
                )

    def remove_request(self, owner: str, request: str) -> None:
        """Remove what a request stored."""
        with self._asked() as collection:
            collection.delete(where={"$and": [{"owner": owner}, {"request": request}]})

    def remove_owner(self, owner: str) -> None:
        """Remove all records of an owner, also from Chroma's log and its index's file.

        The index only marks what is deleted, so vectors are overwritten first.
        """
        ids = self.ids(owner)
        for page in _pages(ids, self._batch):
            vectors = self.vectors(page[:1])
            blank = np.zeros((len(page), *next(iter(vectors.values())).shape), np.float32)
            blank[:, 0] = 1
            with self._asked() as collection:
                collection.update(ids=page, embeddings=blank)
        if ids:
            with self._asked() as collection:
                collection.delete(where={"owner": owner})
            self._empty_log()

    def answers(self) -> bool:
        """Whether the collection can be read."""
        try:
            with self._asked() as collection:
                collection.get(limit=1, include=[])
        except Unavailable:
            return False
        return True

    def close(self) -> None:
        """Close files and connections."""
        (self._files or self._client).close()

    @contextmanager
    def _asked(self) -> Iterator[chromadb.Collection]:
        with self._gate.many(), _trouble():
            yield self._collection

    def _empty_log(self) -> None:
        if self._files:
            with self._gate.alone(), _trouble():
                self._collection = self._files.empty_log(self._name)
            return
        with self._asked() as collection:  # writes that remove nothing make the server do it
            collection.delete(ids=[f"none-{number}" for number in range(_SYNC + 1)])


def _client(settings: RagSettings) -> Any:
    """A server's client; its classes have no common type that can be closed."""
    host, port, tls = settings.address
    try:
        return chromadb.HttpClient(host, port, ssl=tls, settings=quiet_settings())
    except ValueError as error:  # so it says that nobody answers
        raise Unavailable(f"no Chroma server answers at {settings.chroma_url}") from error


def _opened(client: Any, name: str, embedder: str, hnsw: dict[str, int]) -> chromadb.Collection:
    wanted = {"embedder": embedder, "version": _VERSION}
    try:
        collection: chromadb.Collection = client.get_collection(name, embedding_function=None)
    except NotFoundError:
        collection = client.create_collection(
            name,
            embedding_function=None,
            metadata=wanted,
            configuration={"hnsw": {"space": "cosine", **hnsw}},
        )
    kept = collection.metadata or {}
    for key, value in wanted.items():
        if kept.get(key) != value:
            raise IncompatibleDataError(
                f"the Chroma collection {name} was written with {key} {kept.get(key)!r}, and now"
                f" it is {value!r}: they do not compare. Use an empty data directory, or another"
                " AML_CHROMA_COLLECTION"
            )
    return collection


def _pages(items: Sequence[str], size: int) -> Iterator[list[str]]:
    left = iter(items)
    while page := list(islice(left, size)):
        yield page


@contextmanager
def _trouble() -> Iterator[None]:
    """Full disks and servers that are away pass: the client is to try again (clause F3)."""
    try:
        yield
    except (ChromaError, httpx.HTTPError, OSError) as error:
        raise Unavailable(f"Chroma: {type(error).__name__}: {error}") from error
