"""Add: once, durable, findable (clauses A11 to A14, R)."""

from __future__ import annotations

import asyncio
import hashlib
import json
import os
import re
from collections.abc import Hashable, Iterable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from tests.broken.parts.reading import Reading
from tests.broken.parts.values import Add, Memory, Message, RefusedError, Reply

DUPLICATE_WAIT = 30.0
"""Seconds a repeat waits for the Add that is being processed (clause R5)."""


class Storing(Reading):
    """The journal holds one line per acknowledged Add, so that memories and recognised repeats
    become durable in the same write.
    """

    memories: dict[str, list[Memory]]
    done: dict[Hashable, str]
    """Acknowledged requests and the digests of their bodies."""
    pending: dict[Hashable, asyncio.Event]
    journal: int | None
    data: Path | None

    async def add(self, body: bytes) -> Reply:
        """Store a chunk once, however often it is sent."""
        add = self.check_add(self.parse(body))
        key = self.request_key(add.user_id, add.request_id)
        if await self.claim(key, add):
            try:
                await self.store(add)
                self.done[key] = self.digest(add)
            finally:
                self.release(key)
        return Reply(200, self.add_reply(add))

    async def claim(self, key: Hashable, add: Add) -> bool:
        """Whether this Add is to be stored; a repeat waits for the one in flight."""
        while key in self.pending:
            try:
                await asyncio.wait_for(self.pending[key].wait(), DUPLICATE_WAIT)
            except TimeoutError:
                raise RefusedError(409, "the same Add is still being processed") from None
        if key in self.done:
            if self.done[key] != self.digest(add):
                raise RefusedError(422, "this request_id came with another body before")
            return False
        self.pending[key] = asyncio.Event()
        return True

    def release(self, key: Hashable) -> None:
        """Let the waiting repeats look again."""
        if (event := self.pending.pop(key, None)) is not None:
            event.set()

    async def store(self, add: Add) -> None:
        """Make the chunk durable, then findable (A12)."""
        self.reach_store()
        self.write(add)
        self.index(add)

    def reach_store(self) -> None:
        """Nothing, unless the store fails (F3)."""
        if self.data is not None and (self.data / "fault").exists():
            raise RefusedError(503, "storage failed; try again")

    def write(self, add: Add) -> None:
        """One line of the journal, on the disk when this returns; or nothing of it."""
        if self.journal is None:
            return
        line = json.dumps(asdict(add)).encode() + b"\n"
        before = os.fstat(self.journal).st_size
        try:
            written = 0
            while written < len(line):
                written += os.write(self.journal, line[written:])
            os.fsync(self.journal)
        except OSError:
            os.ftruncate(self.journal, before)
            raise

    def index(self, add: Add) -> None:
        """Make the messages findable; blank turns are skipped (A9)."""
        mine = self.memories.setdefault(self.user_key(add.user_id), [])
        mine.extend(
            Memory(
                id=self.memory_id(add, position),
                message=message,
                session_id=add.session_id,
                words=self.words(message.content),
            )
            for position, message in enumerate(add.messages)
            if message.content.strip()
        )

    def open_journal(self, data: Path) -> None:
        """Read what is there; a line torn by a crash was never acknowledged: cut it."""
        data.mkdir(parents=True, exist_ok=True)
        path = data / "journal.jsonl"
        self.journal = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o600)
        whole = path.read_bytes()
        whole = whole[: whole.rfind(b"\n") + 1]
        os.ftruncate(self.journal, len(whole))
        os.fsync(self.journal)
        self.load(map(json.loads, whole.splitlines()))

    def load(self, lines: Iterable[Mapping[str, Any]]) -> None:
        """Take memories and acknowledged requests from the journal."""
        for line in lines:
            messages = tuple(Message(**message) for message in line["messages"])
            add = Add(line["request_id"], line["user_id"], line["session_id"], messages)
            self.index(add)
            self.done[self.request_key(add.user_id, add.request_id)] = self.digest(add)

    def user_key(self, user_id: str) -> str:
        """What separates users: the id itself (L2)."""
        return user_id

    def request_key(self, user_id: str, request_id: str) -> Hashable:
        """What makes two Adds the same: both ids (R2)."""
        return (user_id, request_id)

    def digest(self, add: Add) -> str:
        """Of the validated known fields (R3)."""
        return hashlib.sha256(json.dumps(asdict(add)).encode()).hexdigest()

    def memory_id(self, add: Add, position: int) -> str:
        """Stable over calls and restarts, and no two memories share one (S6)."""
        name = json.dumps([add.user_id, add.request_id, position])
        return hashlib.sha256(name.encode()).hexdigest()[:32]

    def add_reply(self, add: Add) -> Any:
        """Success and the three ids as they came (A11)."""
        return {
            "success": True,
            "request_id": add.request_id,
            "user_id": add.user_id,
            "session_id": add.session_id,
        }

    def words(self, text: str) -> frozenset[str]:
        """Words, and of runs of Han characters the pairs."""
        found: set[str] = set()
        for run in re.findall(r"[㐀-鿿𠀀-𱍏]+|[^\W㐀-鿿𠀀-𱍏]+", text.casefold()):
            if "㐀" <= run[0] <= "鿿" or run[0] >= "𠀀":
                found.update(run[i : i + 2] for i in range(max(1, len(run) - 1)))
            else:
                found.add(run)
        return frozenset(found)
