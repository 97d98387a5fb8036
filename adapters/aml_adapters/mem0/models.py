"""Our embedder and chat model in the shape that Mem0 calls them in.

Mem0 swallows much of what goes wrong inside it. So trouble is noted here, for the adapter to
look at afterwards, and what a model writes is put in order before Mem0 reads it.
"""

from __future__ import annotations

import json
import logging
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from aml_adapters.embedders import Embedder
from aml_sdk.errors import Unavailable
from aml_sdk.providers.reply import Chat, ProviderRefusal
from aml_sdk.providers.trouble import log

_LONGEST_ANSWER = 2_000
"""Tokens of one extraction: Mem0's own limit."""
_NOTHING = '{"memory": []}'


class _Visit(threading.local):
    """What one thread knows while it is inside Mem0."""

    def __init__(self) -> None:
        self.vectors: Mapping[str, Sequence[float]] = {}
        """Made before, so that texts are embedded together and without the lock."""
        self.trouble: Unavailable | None = None


class Library:
    """The lock around Mem0, which is not made for threads, and what passes through it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self.visit = _Visit()

    @contextmanager
    def entered(self, vectors: Mapping[str, Sequence[float]]) -> Iterator[None]:
        """Alone in the library, for as long as the block lasts.

        Raises:
            Unavailable: a model did not answer, although Mem0 may have gone on without it.
        """
        with self._lock:
            self.visit.vectors, self.visit.trouble = vectors, None
            try:
                yield
            except Exception as error:
                if self.visit.trouble is None:
                    raise
                raise self.visit.trouble from error
            finally:
                self.visit.vectors = {}
            if self.visit.trouble is not None:
                raise self.visit.trouble

    @contextmanager
    def waiting(self) -> Iterator[None]:
        """Let others in while a model is waited for: Mem0 keeps nothing half-changed then."""
        self._lock.release()
        try:
            yield
        except ProviderRefusal:
            raise  # the caller can do without this one answer
        except Unavailable as error:
            self.visit.trouble = error
            raise
        finally:
            self._lock.acquire()


class EmbeddingBridge:
    """Mem0's ``embedding_model``."""

    def __init__(self, embedder: Embedder, library: Library) -> None:
        self._embedder = embedder
        self._library = library

    def embed(self, text: str, memory_action: str | None = None) -> Sequence[float]:
        """The vector of a text."""
        return self.embed_batch([text], memory_action)[0]

    def embed_batch(
        self, texts: Sequence[str], memory_action: str | None = None
    ) -> list[Sequence[float]]:
        """The vectors of texts: those made before, or new ones."""
        known = self._library.visit.vectors
        unknown = [text for text in texts if text not in known]
        if unknown:
            with self._library.waiting():
                made = self._embedder.embed(unknown).tolist()
            known = {**known, **dict(zip(unknown, made, strict=True))}
        return [known[text] for text in texts]


class ExtractionBridge:
    """Mem0's ``llm``: asked once an Add for the facts in it."""

    def __init__(self, chat: Chat, library: Library) -> None:
        self._chat = chat
        self._library = library

    def generate_response(
        self,
        messages: Sequence[Mapping[str, Any]],
        response_format: Mapping[str, Any] | None = None,
        tools: object = None,
        tool_choice: object = None,
    ) -> str:
        """JSON as Mem0 expects it; no facts if the model refuses or writes something else."""
        with self._library.waiting():
            try:
                reply = self._chat.complete(
                    messages, response_format=response_format, max_tokens=_LONGEST_ANSWER
                )
            except ProviderRefusal:
                return _NOTHING  # logged already; the messages are kept as they were said
        facts = _facts(reply.content)
        if facts is None:
            log(logging.WARNING, "no facts extracted", finish_reason=reply.finish_reason)
            return _NOTHING
        return json.dumps({"memory": facts})


def _facts(answer: str) -> list[dict[str, str]] | None:
    """The facts in an answer, ``None`` if it is not the JSON that was asked for.

    Mem0 falls over entries that are no objects, and over texts that are no strings.
    """
    start, end = answer.find("{"), answer.rfind("}") + 1
    try:
        listed = json.loads(answer[start:end], strict=False).get("memory")
    except (ValueError, AttributeError, RecursionError):
        return None
    if not isinstance(listed, list):
        return None
    facts = []
    for each in listed:
        text = each.get("text") if isinstance(each, dict) else None
        if not isinstance(text, str) or not text.strip() or not _storable(text):
            continue
        fact = {"text": text}
        if each.get("attributed_to") in ("user", "assistant"):  # no set: it may be unhashable
            fact["attributed_to"] = each["attributed_to"]
        facts.append(fact)
    return facts


def _storable(text: str) -> bool:
    """Whether it is free of lone surrogates, which no store takes (clause A10)."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
