"""A memory that a model edits by tool calls, after MemGPT."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING
from weakref import WeakValueDictionary

from aml_adapters.embedders import Embedder, choose
from aml_adapters.hybrid.embedding import Vectors, rounded
from aml_adapters.hybrid.entries import Indexed
from aml_adapters.hybrid.index import UNDATED, IndexCache
from aml_adapters.hybrid.query import Query
from aml_adapters.hybrid.ranking import order
from aml_adapters.hybrid.tokens import ANALYSIS
from aml_adapters.memgpt.agent import Agent, fixed_tokens
from aml_adapters.memgpt.mind import Mind, Said
from aml_adapters.memgpt.policy import Policy
from aml_adapters.memgpt.rows import Item, NewMessage, NewNote, Snapshot, User
from aml_adapters.memgpt.settings import MemGPTSettings
from aml_adapters.memgpt.store import Store
from aml_adapters.memgpt.tools import Found, Kind
from aml_sdk import AddRequest, Memory, MemorySystem, Refused, SearchRequest, Unavailable
from aml_sdk.content import event_time, is_blank, is_blank_content, text_of
from aml_sdk.data_dir import DataDirectory
from aml_sdk.identity import memory_id
from aml_sdk.ledger import body_digest
from aml_sdk.providers import ProviderSettings

if TYPE_CHECKING:
    from aml_sdk.providers import ChatModel

_CACHE = 128 << 20  # bytes: about 230,000 texts


class MemGPTMemory(MemorySystem):
    """An agent reads each Add and edits its memory; a Search reads all of it, without a model.

    *Stores* in one SQLite file, ``memgpt.sqlite3``: **recall** storage, every message word for
    word; **core** memory, two blocks of short facts that stand in each prompt; **archival**
    storage, passages that the agent wrote. Each text has terms and a vector, as in ``hybrid``.
    The agent is the model that ``AML_LLM_*`` names, else a deterministic
    :class:`~aml_adapters.memgpt.policy.Policy` in the same loop.

    *Answers* with what is stored, best first: messages, and those lines and passages that are
    not part of a message word for word; those that are raise their message instead. The id
    says where an item comes from: ``m-``, ``core-``, ``archival-``. The agent's words to
    itself, its summary and its instructions never come back (clause S12). Text only.

    *Isolation*: ``user_id`` is compared exactly; an agent sees one user, its tools have no way
    to name another, and all statistics are of one user (clause S15).

    *Survives* ``kill -9`` and power loss: the agent runs first, on a copy of its mind; then one
    transaction stores messages and mind together. A stored request that comes again is known
    by its digest and changes nothing, so there is nothing to discard. If the model does not
    answer, the Add is 503 and nothing is kept; if it refuses or talks nonsense, the messages
    are kept and only what it would have made of them is lost. One process owns the directory.

    *Costs*: at least one request to the model for every 4,000 tokens of an Add, at most eight;
    Adds of one user wait for each other. With the policy an Add costs 1.7 times that of
    ``hybrid``. A Search costs one embedding and a little more than with ``hybrid``.

    Args:
        data_dir: directory of the file; made if need be.
        settings: limits of the agent; ``None`` reads ``AML_MEMGPT_*``.
        providers: the models; ``None`` reads ``AML_LLM_*`` and ``AML_EMBEDDING_*``.

    Raises:
        DataDirectoryBusy: another process owns the directory.
        IncompatibleDataError: the file was written by another version or embedder.
        Misconfigured: the environment contradicts itself.
    """

    def __init__(
        self,
        data_dir: Path,
        *,
        settings: MemGPTSettings | None = None,
        providers: ProviderSettings | None = None,
    ) -> None:
        self._settings = settings or MemGPTSettings.from_environment()
        providers = providers or ProviderSettings.from_environment()
        self._directory = DataDirectory(data_dir, "memgpt")
        try:
            self._embedder: Embedder = choose(providers)
            self._model = _model(providers)
            kept = {"embedder": f"{self._embedder.fingerprint} int8", "analysis": ANALYSIS}
            self._store = Store(data_dir / "memgpt.sqlite3", kept)
            fixed_tokens()
        except BaseException:
            self._directory.close()
            raise
        self._cache = IndexCache(_CACHE)
        # More analysis at once than cores can carry gains nothing, and keeps Searches waiting.
        self._turns = threading.Semaphore(1 + (os.cpu_count() or 1))
        self._adding: WeakValueDictionary[str, _Lock] = WeakValueDictionary()
        self._finding_lock = threading.Lock()

    def add(self, request: AddRequest) -> None:
        """Let the agent read the messages, then store them and its mind in one transaction.

        Raises:
            Unavailable: the model, the embedder or the file does not answer; nothing is stored.
            Refused: the id was used for another body (clause R4).
        """
        if all(is_blank(message) for message in request.messages):
            return
        digest = body_digest(request)
        with self._lock_of(request.user_id):
            with self._store.read() as snapshot:
                user = snapshot.user(request.user_id)
                stored = None if user is None else snapshot.digest(user, request.request_id)
                if stored is not None:
                    if stored != digest:
                        raise Refused("request_id: was used for another body of this user")
                    return
                mind = snapshot.mind(user, self._settings)
            messages = self._messages(request, 0 if user is None else user.next_sequence)
            self._agent(request.user_id, mind).read([self._shown(each) for each in messages])
            notes = self._notes(request, mind)
            with self._store.write() as transaction:
                transaction.put(request, digest, messages, notes, mind)

    def search(self, request: SearchRequest) -> list[Memory]:
        """What is stored of the user, best first, down to ``top_k``. No model is asked.

        Raises:
            Unavailable: the embedder or the file does not answer.
        """
        if is_blank_content(request.query):
            return []
        query = Query.of(text_of(request.query), request.options or (), self._embed)
        with self._store.read() as snapshot:
            user = snapshot.user(request.user_id)
            found = () if user is None else self._evidence(snapshot, user, query)
            return list(islice(found, request.top_k))

    def health(self) -> bool:
        """Whether the file can be read; models are not asked."""
        try:
            with self._store.read() as snapshot:
                snapshot.user("")
        except Unavailable:
            return False
        return True

    def forget(self, user_id: str) -> None:
        """Remove a user with all that was said and made of it, and overwrite where it was."""
        with self._lock_of(user_id):
            with self._store.write() as transaction:
                user = transaction.remove_user(user_id)
            if user is not None:
                self._cache.drop(user)
                self._store.scrub()

    def close(self) -> None:
        """Close the file and connections, and give the directory up."""
        self._store.close()
        self._embedder.close()
        if not isinstance(self._model, Policy):
            self._model.close()
        self._directory.close()

    def _agent(self, user_id: str, mind: Mind) -> Agent:
        def search(kind: Kind, query: str, first: int, count: int) -> Sequence[Found]:
            asked = Query.of(query, (), self._embed)
            with self._store.read() as snapshot:
                user = snapshot.user(user_id)
                if user is None:
                    return []
                found = islice(self._ranked(snapshot, user, asked, kind), first, first + count)
                return [Found(item.text, item.timestamp) for item, _ in found]

        return Agent(self._model, mind, search, self._settings)

    def _messages(self, request: AddRequest, first: int) -> list[NewMessage]:
        """The messages of the request, numbered from ``first`` on, with what finds them."""
        said = [
            (position, message, text_of(message.content))
            for position, message in enumerate(request.messages)
            if not is_blank(message)
        ]
        times = (message.timestamp for _, message, _ in said if message.timestamp is not None)
        chunk_time = next(times, UNDATED)
        with self._turns:
            vectors = self._embed([text for _, _, text in said])
            return [
                NewMessage(
                    id=memory_id(request.user_id, request.request_id, position),
                    sequence=sequence,
                    role=message.role,
                    timestamp=message.timestamp,
                    content=text,
                    indexed=Indexed.of(text, message.timestamp, chunk_time, vector),
                )
                for sequence, ((position, message, text), vector) in enumerate(
                    zip(said, vectors, strict=True), first
                )
            ]

    def _shown(self, message: NewMessage) -> Said:
        return Said.shown(
            message.sequence,
            message.role,
            message.timestamp,
            message.content,
            self._settings.message_tokens,
        )

    def _notes(self, request: AddRequest, mind: Mind) -> list[NewNote]:
        """What the agent wrote and is not stored yet, with what finds it."""
        notes = [note for note in mind.core.notes if note.sequence is None] + mind.archived
        with self._turns:
            vectors = self._embed([note.text for note in notes])
            return [
                NewNote(
                    # Counted like messages; the kind in front keeps the two apart.
                    id=memory_id(request.user_id, request.request_id, number).replace(
                        "m", note.kind, 1
                    ),
                    note=note,
                    indexed=Indexed.of(note.text, note.timestamp, UNDATED, vector),
                )
                for number, (note, vector) in enumerate(zip(notes, vectors, strict=True))
            ]

    def _evidence(self, snapshot: Snapshot, user: User, query: Query) -> Iterator[Memory]:
        """Items, best first, each once: what is part of a message gives way to the message."""
        given: set[str] = set()
        for found, score in self._ranked(snapshot, user, query):
            item = found if found.source is None else snapshot.item(user, found.source)
            if item.id in given:
                continue
            given.add(item.id)
            time = event_time(item.timestamp)
            yield Memory(
                id=item.id,
                content=item.text,
                score=score,
                created_at=None if time is None else time.isoformat(),
            )

    def _ranked(
        self, snapshot: Snapshot, user: User, query: Query, kind: Kind | None = None
    ) -> Iterator[tuple[Item, float]]:
        """Messages and notes of a user, best first: all, or those of one kind."""
        index = snapshot.entries.index(user.key, user.epoch, self._cache)
        scores = query.scores(index, snapshot.entries, user.key)
        rows = order(scores, index)
        if kind is not None:
            # Before they are fetched, which takes a statement for each.
            rows = rows[snapshot.of_kind(user, index, kind)[rows]]
        for row in rows.tolist():
            yield snapshot.item(user, int(index.sequences[row])), float(scores[row])

    def _embed(self, texts: Sequence[str]) -> Vectors:
        return rounded(self._embedder.embed(texts))

    def _lock_of(self, user_id: str) -> _Lock:
        """The lock of a user, there as long as somebody holds or awaits it."""
        with self._finding_lock:
            return self._adding.setdefault(user_id, _Lock())


class _Lock:
    """A lock that is given up for good when nobody refers to it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()

    def __enter__(self) -> None:
        self._lock.acquire()

    def __exit__(self, *_: object) -> None:
        self._lock.release()


def _model(providers: ProviderSettings) -> ChatModel | Policy:
    if providers.llm is None:
        return Policy()
    from aml_sdk.providers.chat import ChatModel  # noqa: PLC0415  takes a second

    return ChatModel(providers)
