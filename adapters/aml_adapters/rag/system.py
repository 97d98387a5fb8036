"""Passages of messages in Chroma, ranked by how near they are to the question."""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path

from aml_adapters.embedders import Embedder, choose
from aml_adapters.rag.collection import Collection, Record
from aml_adapters.rag.owned import OwnedCache, memory_of, passage_id
from aml_adapters.rag.passages import passages
from aml_adapters.rag.settings import RagSettings
from aml_sdk import AddRequest, Memory, MemorySystem, SearchRequest
from aml_sdk.content import event_time, is_blank, is_blank_content, text_of
from aml_sdk.data_dir import DataDirectory
from aml_sdk.errors import Misconfigured
from aml_sdk.identity import backend_key, memory_id, short_digest

_CACHE = 256 << 20  # bytes: about 120,000 passages of 512 numbers
_UNDATED = -1


class RagMemory(MemorySystem):
    """Cuts messages into passages, embeds them, and returns the messages nearest to the query.

    *Stores* one Chroma record for each passage of at most 800 characters: its text, its
    vector, and metadata: ``owner`` and ``request`` (names made from the ids, to filter by),
    ``passage``, ``timestamp`` (-1 if unknown), and ``message``, a JSON text with the ids as
    they came, position and role. Passages of a message are the message, cut. A message of
    more than 25,000 characters is cut into longer passages, at most 64, and what the embedder
    does not read of them does not find it.

    *Answers* with whole messages, each once, by its passage with the largest cosine. Nothing
    is cut off by a threshold. Words that mean nothing to the embedder, such as names, hardly
    count: that is what this way of remembering is like. Options are not looked at.

    *Isolates* by ``owner``: Chroma filters before anything is compared. Then all vectors of
    the owner are compared, exactly: Chroma's own filtered query follows a graph of all
    owners' vectors and missed 38 of the nearest 100 of an owner with a quarter of 40,000
    random ones. So no owner's result depends on what others stored (clause S15).

    *Survives* ``kill -9``: Chroma writes its log before it returns, and its graph, which a kill
    could spoil, is not written (:mod:`aml_adapters.chroma_files`). An Add of more than some
    thousand passages takes several writes; what a crash left of it is discarded. Record ids
    follow from the request, so storing it again changes nothing. One process owns the
    directory: Chroma's files, or on a server the collection, are for one process.

    *Forgets* rows, vectors, Chroma's log of them and the free pages where they stood, which
    takes as long as reading and writing all of Chroma's files.

    *Costs*, in milliseconds of one core: an Add 3 for each message of 20 words, two thirds of
    it for the vector; a Search 20 among 1,000 messages of the owner and 45 among 10,000, never
    growing with other owners'. An owner's first Search after a restart, or after others have
    filled the cache, reads the vectors: 70 and 490. Disk: 4 kB a message of 20 words. Memory:
    400 MB with the model and Chroma, and up to 256 MB of vectors.

    With ``AML_EMBEDDING_…`` set (see :class:`aml_sdk.providers.settings.ProviderSettings`)
    a provider's model embeds; nothing is ever downloaded, and no telemetry is sent.

    Args:
        data_dir: directory of Chroma's files; made if need be.
        settings: ``None`` reads the environment.
        embedder: ``None`` chooses by the environment.

    Raises:
        DataDirectoryBusy: another process owns the directory.
        IncompatibleDataError: the collection was written by another version or embedder.
        Misconfigured: a variable makes no sense, or the memories are on a server that none names.
        Unavailable: the Chroma server does not answer.
    """

    def __init__(
        self,
        data_dir: Path,
        settings: RagSettings | None = None,
        embedder: Embedder | None = None,
    ) -> None:
        settings = settings or RagSettings.from_environment()
        self._embedder = embedder or choose()
        self._directory = DataDirectory(data_dir, "rag")
        try:
            fingerprint = self._embedder.fingerprint
            note = data_dir / "chroma-server"
            _demand_server(note, settings)
            self._collection = Collection(data_dir / "chroma", settings, fingerprint)
            if settings.chroma_url is not None:
                host, port, _ = settings.address
                note.write_text(f"{host}:{port}\n", encoding="utf-8")
        except BaseException:
            self._directory.close()
            raise
        self._cache = OwnedCache(_CACHE)
        # More Adds at work than cores can carry gain nothing, and keep Searches waiting.
        self._turns = threading.Semaphore(1 + (os.cpu_count() or 1))

    def add(self, request: AddRequest) -> None:
        """Embed all passages, then store them; on disk and findable on return."""
        records = list(_records(request))
        if not records:
            return
        with self._turns:
            vectors = self._embedder.embed([each.text for each in records])
            self._collection.put(records, vectors)

    def search(self, request: SearchRequest) -> list[Memory]:
        """All messages of the user, nearest first, down to ``top_k``; none for a blank query."""
        if is_blank_content(request.query):
            return []
        owner = backend_key(request.user_id)
        ids = self._collection.ids(owner)
        if not ids:
            return []
        query = self._embedder.embed([text_of(request.query)])[0]
        owned = self._cache.get(owner, ids, self._collection.vectors)
        nearest = owned.nearest(query)[: request.top_k]
        records = self._collection.records([each for _, ids in nearest for each in ids])
        return [
            _memory([records[each] for each in ids], score)
            for score, ids in nearest
            if all(each in records for each in ids)  # else it was removed meanwhile
        ]

    def health(self) -> bool:
        """Whether Chroma answers."""
        return self._collection.answers()

    def discard(self, user_id: str, request_id: str) -> None:
        """Remove what a request stored."""
        self._collection.remove_request(backend_key(user_id), backend_key(request_id))

    def forget(self, user_id: str) -> None:
        """Remove a user's records and overwrite their vectors."""
        owner = backend_key(user_id)
        self._collection.remove_owner(owner)
        self._cache.drop(owner)

    def close(self) -> None:
        """Close Chroma and give the directory up."""
        self._collection.close()
        self._embedder.close()
        self._directory.close()


def _demand_server(note: Path, settings: RagSettings) -> None:
    """Without the server that has them, ``aml forget`` would report memories gone that are not."""
    if settings.chroma_url is None and note.exists():
        place = note.read_text(encoding="utf-8").strip()
        raise Misconfigured(
            f"the memories of {note.parent} are on the Chroma server at {place}: name it by"
            f" AML_CHROMA_URL, or remove {note} if they are no longer wanted"
        )


def _records(request: AddRequest) -> Iterator[Record]:
    owner, key = backend_key(request.user_id), backend_key(request.request_id)
    for position, message in enumerate(request.messages):
        if is_blank(message):
            continue
        memory = memory_id(request.user_id, request.request_id, position)
        said = json.dumps(
            {
                "user_id": request.user_id,
                "request_id": request.request_id,
                "session_id": request.session_id,
                "position": position,
                "role": message.role,
            }
        )
        timestamp = _UNDATED if message.timestamp is None else message.timestamp
        for number, text in enumerate(passages(text_of(message.content))):
            yield Record(
                passage_id(memory, number, short_digest(text)),
                text,
                {
                    "owner": owner,
                    "request": key,
                    "passage": number,
                    "timestamp": timestamp,
                    "message": said,
                },
            )


def _memory(records: Sequence[Record], score: float) -> Memory:
    """The message that its passages, in order, make up."""
    timestamp = records[0].metadata["timestamp"]
    time = event_time(int(timestamp)) if timestamp != _UNDATED else None
    return Memory(
        id=memory_of(records[0].id),
        content="".join(each.text for each in records),
        score=score,
        created_at=None if time is None else time.isoformat(),
    )
