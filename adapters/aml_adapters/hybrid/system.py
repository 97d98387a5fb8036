"""The embedded default memory: every message as it was said, found by words and by meaning."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path

from pydantic import TypeAdapter

from aml_adapters.hybrid.embedding import Embedder
from aml_adapters.hybrid.entries import Indexed
from aml_adapters.hybrid.index import UNDATED, IndexCache, Integers
from aml_adapters.hybrid.query import Query
from aml_adapters.hybrid.ranking import order
from aml_adapters.hybrid.rows import Said
from aml_adapters.hybrid.store import Store
from aml_adapters.hybrid.tokens import ANALYSIS
from aml_sdk import (
    AddRequest,
    ContentPart,
    Memory,
    MemorySystem,
    Message,
    SearchRequest,
    Unavailable,
)
from aml_sdk.content import decoded_size, event_time, images_of, is_blank, is_blank_content, text_of
from aml_sdk.data_dir import DataDirectory
from aml_sdk.identity import memory_id

_PARTS = TypeAdapter(list[ContentPart])
_CACHE = 128 << 20  # bytes: about 230,000 messages
_MOST_IMAGE_BYTES = 30 << 20  # decoded, in one answer (clause M1)


class HybridMemory(MemorySystem):
    """Keeps each message verbatim and ranks all of a user's for each query.

    *Stores* in one SQLite file, ``hybrid.sqlite3``: the messages, for each user an
    inverted index of terms, and one vector of 512 bytes a message. Text is indexed whole;
    the vector is of its first 1,000 characters. Images are kept and returned but not
    looked at: what was said beside them finds them.

    *Answers* with single messages, best first: BM25 over context windows plus a little of
    the cosine (see :mod:`aml_adapters.hybrid.ranking`). Nothing is cut off by a threshold:
    when ``top_k`` allows, every message of the user comes back, the least likely last.
    A hundred messages of ordinary length fit the reader's 117,760 tokens (clause S14); a
    hundred at the platform's limit of 8,000 characters do not, and then the order decides
    what is read. An answer's images stay within 30 MiB: what does not fit is passed over.

    *Isolates* by ``user_id``, compared exactly: each row carries its user's key, and all
    statistics are of one user (clause S15).

    *Survives* ``kill -9`` and power loss: an Add is one transaction, synced before it
    returns. Storing the same request again changes nothing. One process owns the directory.

    *Costs*, in milliseconds of one core: an Add 4 for each message of 20 words, nearly all
    of it for the vector; a Search 7 among 1,000 messages of the user and 17 among 10,000,
    growing with the messages that hold the query's words and, slowly, with all of the
    user's, never with other users'. A user's first Search after a restart, or after others
    have filled the cache, reads the vectors: 85 among 10,000. Disk: 1.4 kB for each message
    of 20 words. Memory: 150 MB for the model and at most 128 MB of cache.
    No network, no key.

    Args:
        data_dir: directory of the file; made if need be.

    Raises:
        DataDirectoryBusy: another process owns the directory.
        IncompatibleDataError: the file was written by another version or embedder.
    """

    images = True

    def __init__(self, data_dir: Path) -> None:
        self._directory = DataDirectory(data_dir, "hybrid")
        try:
            settings = {"embedder": Embedder.fingerprint, "analysis": ANALYSIS}
            self._store = Store(data_dir / "hybrid.sqlite3", settings)
            self._embedder = Embedder()
        except BaseException:
            self._directory.close()
            raise
        self._cache = IndexCache(_CACHE)
        # More Adds at work than cores can carry gain nothing, and keep Searches waiting.
        self._turns = threading.Semaphore(1 + (os.cpu_count() or 1))

    def add(self, request: AddRequest) -> None:
        """Store the messages in one transaction; on disk and findable on return."""
        said = [
            _said(request, position, message)
            for position, message in enumerate(request.messages)
            if not is_blank(message)
        ]
        if not said:
            return
        with self._store.read() as snapshot:
            if snapshot.request(request.user_id, request.request_id) == (request.session_id, said):
                return
        with self._turns:
            indexed = self._analysed(request, said)
        with self._store.write() as transaction:
            # The same request may have come twice at once, and the other been first.
            if transaction.request(request.user_id, request.request_id) != (
                request.session_id,
                said,
            ):
                transaction.put(
                    request.user_id,
                    request.request_id,
                    request.session_id,
                    list(zip(said, indexed, strict=True)),
                )

    def search(self, request: SearchRequest) -> list[Memory]:
        """All memories of the user, best first, down to ``top_k``.

        A query without words (a picture, ``?``) is answered with the latest messages
        unless its signs occur in one; a query of white space only with nothing.
        """
        if is_blank_content(request.query):
            return []
        query = Query.of(text_of(request.query), request.options or (), self._embedder.embed)
        with self._store.read() as snapshot:
            known = snapshot.user(request.user_id)
            if known is None:
                return []
            user, epoch = known
            index = snapshot.entries.index(user, epoch, self._cache)
            scores = query.scores(index, snapshot.entries, user)
            rows = list(_fitting(order(scores, index), index.image_bytes, request.top_k))
            found = snapshot.said(user, index.sequences[rows].tolist())
        return [_memory(each, float(scores[row])) for each, row in zip(found, rows, strict=True)]

    def health(self) -> bool:
        """Whether the file can be read."""
        try:
            with self._store.read() as snapshot:
                snapshot.user("")
        except Unavailable:
            return False
        return True

    def discard(self, user_id: str, request_id: str) -> None:
        """Remove what a request stored."""
        with self._store.write() as transaction:
            transaction.remove_request(user_id, request_id)

    def forget(self, user_id: str) -> None:
        """Remove a user with every message, term and vector, and overwrite where they were."""
        with self._store.write() as transaction:
            user = transaction.remove_user(user_id)
        if user is not None:
            self._cache.drop(user)
            self._store.scrub()

    def close(self) -> None:
        """Close the file and give the directory up."""
        self._store.close()
        self._directory.close()

    def _analysed(self, request: AddRequest, said: Sequence[Said]) -> list[Indexed]:
        """What finds each of the messages: nearly all of the work of an Add."""
        texts = [text_of(request.messages[each.position].content) for each in said]
        vectors = self._embedder.embed(texts)
        times = (each.timestamp for each in request.messages if each.timestamp is not None)
        chunk_time = next(times, UNDATED)
        return [
            Indexed.of(
                text,
                each.timestamp,
                chunk_time,
                vector,
                _image_bytes(request.messages[each.position]),
            )
            for each, text, vector in zip(said, texts, vectors, strict=True)
        ]


def _said(request: AddRequest, position: int, message: Message) -> Said:
    """The message as it is given back: a list of text parts only as its text (clause S7)."""
    content, parts = text_of(message.content), False
    if not isinstance(message.content, str) and any(images_of(message.content)):
        content, parts = _PARTS.dump_json(message.content).decode(), True
    return Said(
        id=memory_id(request.user_id, request.request_id, position),
        position=position,
        role=message.role,
        timestamp=message.timestamp,
        parts=parts,
        content=content,
    )


def _image_bytes(message: Message) -> int:
    return sum(decoded_size(part.image_url.url) for part in images_of(message.content))


def _fitting(rows: Integers, image_bytes: Integers, most: int) -> Iterator[int]:
    """The first rows whose images together are small enough for one answer."""
    left, room = most, _MOST_IMAGE_BYTES
    for row in rows.tolist():
        size = int(image_bytes[row])
        if size <= room:
            yield row
            room -= size
            left -= 1
        if not left:
            return


def _memory(said: Said, score: float) -> Memory:
    time = event_time(said.timestamp)
    return Memory(
        id=said.id,
        content=_PARTS.validate_json(said.content) if said.parts else said.content,
        score=score,
        created_at=None if time is None else time.isoformat(),
    )
