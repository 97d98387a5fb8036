"""Mem0: each message as it was said and, with a model, the facts that Mem0 finds in it."""

from __future__ import annotations

import logging
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from aml_adapters.embedders import choose
from aml_adapters.mem0.library import (
    COLLECTION,
    check_version,
    failures,
    history_path,
    open_memory,
)
from aml_adapters.mem0.models import EmbeddingBridge, ExtractionBridge, Library
from aml_adapters.mem0.store import ExactStore
from aml_adapters.sqlite_file import SQLiteFile
from aml_sdk import AddRequest, Memory, MemorySystem, SearchRequest, Unavailable
from aml_sdk.content import event_time, is_blank, text_of
from aml_sdk.data_dir import DataDirectory
from aml_sdk.identity import backend_key, memory_id
from aml_sdk.providers.chat import ChatModel
from aml_sdk.providers.settings import ProviderSettings
from aml_sdk.providers.trouble import log

# Mem0's runs: its extraction sees earlier facts only, a Search sees both.
_MESSAGES, _FACTS = "messages", "facts"
_MOST_RESULTS = 10_000
"""Mem0 looks at four times as many; a user with more memories is not what it is for."""


@dataclass(frozen=True)
class _Line:
    """A message that is stored."""

    position: int
    role: str
    text: str
    time: datetime | None


class Mem0Memory(MemorySystem):
    """Mem0's open-source library with a Chroma store, in this process.

    *Stores* each message verbatim by ``Memory.add(infer=False)``. If a chat model is set
    (``AML_LLM_BASE_URL``, …), a second ``Memory.add(infer=True)`` of the whole Add lets Mem0
    extract facts, which are kept beside the messages: one call of the model an Add. A model
    that refuses, or answers with something else than JSON, costs the facts and no message; a
    model that does not answer makes the Add 503, and nothing of it stays. Vectors are those
    of ``AML_EMBEDDING_MODEL``, or of the static model where none is set.

    *Answers* with messages and facts together, in Mem0's order, with no threshold: when
    ``top_k`` allows, everything of the user comes back, up to 10,000. ``created_at`` is the
    time of the message, for facts that of the Add's first message. Options are not looked at.

    *Isolates* by Mem0's ``user_id``, which is given a digest of ours: to Mem0 ``*`` means
    everyone, ids are trimmed, and some are refused.

    *Survives* ``kill -9``. Mem0 has no ids of the caller's and stores a repeated Add twice,
    so what an unfinished one left is found by its digest and removed (``discard``). Chroma's
    graph, which a kill could spoil, is not written (:mod:`aml_adapters.chroma_files`). One
    process owns the directory.

    *Forgets* rows, vectors, their history, Chroma's log of them and the free pages where they
    stood, which takes as long as reading and writing all of Chroma's files.

    *Is not Mem0 as it comes*: Chroma is searched exactly, not by its approximate index; the
    entities that Mem0 links with spaCy are off, for it would download a model; and telemetry
    is off.

    Args:
        data_dir: everything is in its folder ``mem0``; made if need be.
        settings: models and limits; ``None`` reads the environment.

    Raises:
        Misconfigured: another version of Mem0 is installed, or the settings contradict
            themselves.
        DataDirectoryBusy: another process owns the directory.
        IncompatibleDataError: the data was written with another embedder.
    """

    def __init__(self, data_dir: Path, settings: ProviderSettings | None = None) -> None:
        check_version()
        settings = ProviderSettings.from_environment() if settings is None else settings
        self._closing = ExitStack()
        try:
            self._open(data_dir, settings)
        except BaseException:
            self._closing.close()
            raise

    def add(self, request: AddRequest) -> None:
        """Store the messages, then what a model finds in them; findable on return."""
        lines = [
            _Line(position, message.role, text_of(message.content), event_time(message.timestamp))
            for position, message in enumerate(request.messages)
            if not is_blank(message)
        ]
        if not lines:
            return
        scope = {"user_id": backend_key(request.user_id)}
        made = {"aml_request": backend_key(request.request_id)}
        texts = [line.text for line in lines]
        vectors = dict(zip(texts, self._embedder.embed(texts).tolist(), strict=True))
        with self._trouble(), self._library.entered(vectors), self._store.together():
            for line in lines:
                id_ = memory_id(request.user_id, request.request_id, line.position)
                self._memory.add(
                    # Mem0 skips what a system says; the role plays no part here.
                    [{"role": "user", "content": line.text}],
                    **scope,
                    run_id=_MESSAGES,
                    metadata={**made, "aml_id": id_, **_dated(line.time)},
                    infer=False,
                )
        if self._extracting:
            self._extract(lines, scope, made)

    def search(self, request: SearchRequest) -> list[Memory]:
        """The user's messages and facts in Mem0's order; a blank query finds nothing."""
        query = text_of(request.query).strip()
        if not query:
            return []
        [vector] = self._embedder.embed([query]).tolist()
        with self._trouble(), self._library.entered({query: vector}):
            found = self._memory.search(
                query,
                filters={"user_id": backend_key(request.user_id)},
                top_k=min(request.top_k, _MOST_RESULTS),
                threshold=0.0,  # 0.1 unless said; nothing is to be cut off
            )["results"]
        return [_memory(each) for each in found]

    def health(self) -> bool:
        """Whether the store can be read."""
        try:
            with self._trouble():
                self._store.ping()
        except Unavailable:
            return False
        return True

    def discard(self, user_id: str, request_id: str) -> None:
        """Remove what an Add stored, and the recent messages that Mem0 extracts facts beside."""
        self._remove(user_id, {"aml_request": backend_key(request_id)}, self._store.remove)

    def forget(self, user_id: str) -> None:
        """Remove every message, fact and vector of a user, and their history."""
        self._remove(user_id, {}, self._store.erase)

    def close(self) -> None:
        """Close the files and give the directory up; a second call does nothing."""
        self._closing.close()

    def _open(self, data_dir: Path, settings: ProviderSettings) -> None:
        self._closing.enter_context(DataDirectory(data_dir, "mem0"))
        directory = data_dir / "mem0"
        directory.mkdir(exist_ok=True)
        self._embedder = choose(settings)
        self._closing.callback(self._embedder.close)
        made_with = {"embedder": self._embedder.fingerprint}
        self._closing.callback(SQLiteFile(directory / "made.sqlite3", "", 1, made_with).close)
        self._memory, files = open_memory(directory)
        self._failures = failures()
        self._history = history_path(directory)
        self._store = ExactStore(
            self._memory.vector_store.collection, lambda: files.empty_log(COLLECTION)
        )
        self._closing.callback(files.close)
        self._closing.callback(self._memory.close)
        self._library = Library()
        self._memory.vector_store = self._store
        self._memory.embedding_model = EmbeddingBridge(self._embedder, self._library)
        self._extracting = settings.llm is not None
        if self._extracting:
            chat = ChatModel(settings)
            self._closing.callback(chat.close)
            self._memory.llm = ExtractionBridge(chat, self._library)

    def _extract(self, lines: Sequence[_Line], scope: dict[str, str], made: dict[str, str]) -> None:
        time = next((line.time for line in lines if line.time is not None), None)
        with self._trouble(), self._library.entered({}):
            found = self._memory.add(
                [_spoken(line) for line in lines],
                **scope,
                run_id=_FACTS,
                metadata={**made, **_dated(time)},
                prompt=_when(time),
                infer=True,
            )["results"]
        log(logging.INFO, "extraction", messages=len(lines), facts=len(found))

    def _remove(
        self,
        user_id: str,
        where: dict[str, str],
        remove: Callable[[str, Sequence[str]], None],
    ) -> None:
        user = backend_key(user_id)
        with self._trouble(), self._library.entered({}):
            ids = self._store.ids({"user_id": user, **where})
            with closing(sqlite3.connect(self._history, isolation_level=None)) as history:
                history.execute("PRAGMA secure_delete = ON")
                history.execute("BEGIN IMMEDIATE")
                history.executemany(
                    "DELETE FROM history WHERE memory_id = ?", [[id_] for id_ in ids]
                )
                # Mem0's own name for the scope of a user's run.
                scope = f"run_id={_FACTS}&user_id={user}"
                history.execute("DELETE FROM messages WHERE session_scope = ?", (scope,))
                history.execute("COMMIT")
                history.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
            # Last: should it fail, the history of what is left is found again next time.
            remove(user, ids)

    @contextmanager
    def _trouble(self) -> Iterator[None]:
        """Full disks and locks pass: the client is to try again (clause F3)."""
        try:
            yield
        except self._failures as error:
            raise Unavailable(f"Mem0's store: {type(error).__name__}") from error


def _spoken(line: _Line) -> dict[str, str]:
    """The message as Mem0's extraction reads it, which knows three roles."""
    if line.role in {"user", "assistant", "system"}:
        return {"role": line.role, "content": line.text}
    return {"role": "user", "content": f"{line.role}: {line.text}"}


def _when(time: datetime | None) -> str | None:
    """Instructions on the date: Mem0's prompt calls today's the date of the conversation."""
    if time is None:
        return None
    return (
        f"These messages were written on {time:%A}, {time.date().isoformat()}. That is their"
        " Observation Date, not the one above: resolve words such as yesterday against it."
    )


def _dated(time: datetime | None) -> dict[str, str]:
    """When it was said. Mem0's ``created_at`` alone does not tell: unset, it is now."""
    return {} if time is None else {"created_at": time.isoformat(), "aml_time": time.isoformat()}


def _memory(found: dict[str, Any]) -> Memory:
    metadata = found.get("metadata") or {}
    return Memory(
        id=metadata.get("aml_id", found["id"]),
        content=found["memory"],
        score=found["score"],
        created_at=metadata.get("aml_time"),
    )
