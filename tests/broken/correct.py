"""One small, correct, durable server, made to be varied.

Every promise of the wire contract that needs no media is kept here in a method of its
own, so that a variation is a subclass that overrides one of them::

    class FoldsUserIds(Correct):
        kills = {"isolation/case-twins": "sees a memory of"}

        def user_key(self, user_id):
            return user_id.casefold()

``kills`` names the rules that must fail the variation and words that their message must
hold. The journal holds one line per acknowledged Add, so that memories and recognised
repeats become durable in the same write. While a file ``fault`` lies in the data directory,
the store fails.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import math
import os
import re
from collections.abc import Hashable, Iterable, Mapping
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, ClassVar

MAX_BODY = 64 * 2**20
"""Bytes; above a legal Multimodal Add of about 41 MiB (clause M1)."""
DUPLICATE_WAIT = 30.0
"""Seconds a repeat waits for the Add that is being processed (clause R5)."""

variations: dict[str, type[Correct]] = {}


class RefusedError(Exception):
    """The request is answered with ``status`` and a reason without payload."""

    def __init__(self, status: int, reason: str) -> None:
        super().__init__(reason)
        self.status = status
        self.reason = reason


@dataclass(frozen=True)
class Message:
    """One turn as it is stored; ``timestamp`` in Unix milliseconds."""

    role: str
    content: str
    timestamp: int | None = None


@dataclass(frozen=True)
class Add:
    """A validated Add: the known fields only."""

    request_id: str
    user_id: str
    session_id: str
    messages: tuple[Message, ...]


@dataclass(frozen=True)
class Search:
    """A validated Search; ``query`` as one text."""

    query: str
    user_id: str
    top_k: int
    options: tuple[str, ...] = ()


@dataclass(frozen=True)
class Memory:
    """One stored message of one user."""

    id: str
    message: Message
    session_id: str
    words: frozenset[str]


@dataclass
class Reply:
    """What goes back: ``body`` is JSON unless it is bytes already."""

    status: int
    body: Any = None
    headers: dict[str, str] = field(default_factory=dict)


class Correct:
    """The server as an ASGI application; without ``data`` it keeps all in memory."""

    kills: ClassVar[Mapping[str, str]] = {}
    risks: ClassVar[frozenset[str]] = frozenset()
    """Those of its rules that only warn: readers disagree, or a refusal is a risk."""
    thresholds: ClassVar[Mapping[str, float]] = {}
    """Settings of the run that a killer needs, in seconds."""
    track: ClassVar[str] = "textual"
    """What the run is told that the server is entered for."""

    def __init_subclass__(cls) -> None:
        if cls.__name__ in variations or "kills" not in vars(cls):
            raise TypeError(f"{cls.__name__}: a variation has its own name and its own kills")
        variations[cls.__name__] = cls

    def __init__(self, data: Path | None = None, *, scheme: str = "none", key: str = "") -> None:
        self.scheme = scheme
        self.key = key
        self.memories: dict[str, list[Memory]] = {}
        self.done: dict[Hashable, str] = {}
        """Acknowledged requests and the digests of their bodies."""
        self.pending: dict[Hashable, asyncio.Event] = {}
        self.journal: int | None = None
        self.data = data
        if data is not None:
            self.open_journal(data)

    def uvicorn_settings(self) -> dict[str, Any]:
        """How uvicorn serves this application."""
        return {"log_level": "warning", "ws": "none", "timeout_keep_alive": 75}

    # -- HTTP ------------------------------------------------------------------------

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Serve one ASGI scope."""
        if scope["type"] == "lifespan":
            await self.lifespan(receive, send)
            return
        headers = {k.decode("latin-1"): v.decode("latin-1") for k, v in scope["headers"]}
        try:
            reply = await self.route(scope["method"], scope["path"], headers, receive)
        except RefusedError as refused:
            reply = self.error(refused.status, refused.reason)
        except OSError:
            reply = self.error(503, "storage failed; try again")
        await self.send_reply(reply, send)

    async def lifespan(self, receive: Any, send: Any) -> None:
        """Answer start-up and shutdown."""
        while True:
            event = (await receive())["type"]
            await send({"type": f"{event}.complete"})
            if event == "lifespan.shutdown":
                return

    async def route(
        self, method: str, path: str, headers: Mapping[str, str], receive: Any
    ) -> Reply:
        """Choose what answers; the key is judged before the body is read (K2)."""
        if path == "/health" and method in ("GET", "HEAD"):
            return self.health()
        if path not in ("/add", "/search"):
            raise RefusedError(404, "no such path")
        if method == "HEAD":
            return self.head()
        if method != "POST":
            raise RefusedError(405, "use POST")
        if not self.authorised(headers):
            raise RefusedError(401, "missing or wrong key")
        body = await self.read_body(headers, receive)
        return await (self.add(body) if path == "/add" else self.search(body))

    async def read_body(self, headers: Mapping[str, str], receive: Any) -> bytes:
        """The whole body, unless it is too large or encoded."""
        if headers.get("content-encoding", "identity") != "identity":
            raise RefusedError(415, "send the body without a content encoding")
        parts, size = [], 0
        while True:
            event = await receive()
            if event["type"] == "http.disconnect":
                raise RefusedError(400, "the body ended early")
            parts.append(event.get("body", b""))
            size += len(parts[-1])
            if size > self.max_body():
                raise RefusedError(413, "the body is too large")
            if not event.get("more_body"):
                return b"".join(parts)

    def max_body(self) -> int:
        """Bytes above which a body is refused with 413."""
        return MAX_BODY

    async def send_reply(self, reply: Reply, send: Any) -> None:
        """Write status, headers and body."""
        body = self.encode(reply.body)
        headers = {
            "content-type": "application/json",
            "content-length": str(len(body)),
            **reply.headers,
        }
        await send(
            {
                "type": "http.response.start",
                "status": reply.status,
                "headers": [(k.encode(), v.encode()) for k, v in headers.items()],
            }
        )
        await send({"type": "http.response.body", "body": body})

    def encode(self, body: Any) -> bytes:
        """The bytes of a reply body."""
        if isinstance(body, bytes):
            return body
        return json.dumps(body, ensure_ascii=False, allow_nan=False).encode()

    def health(self) -> Reply:
        """Open to everyone (E3)."""
        return Reply(200, {"status": "ok"})

    def head(self) -> Reply:
        """HEAD has been sent to the Add and Search URLs as a probe (E4)."""
        return Reply(200, b"")

    def error(self, status: int, reason: str) -> Reply:
        """No payload, key or traceback in it (F4)."""
        return Reply(status, {"detail": {"reason": reason}})

    def authorised(self, headers: Mapping[str, str]) -> bool:
        """Whether the configured scheme carries the configured key (K1, K2)."""
        if self.scheme == "none":
            return True
        if self.scheme == "x-api-key":
            given = headers.get("x-api-key", "")
        else:
            scheme, _, given = headers.get("authorization", "").partition(" ")
            if scheme.casefold() != self.scheme:
                return False
        return bool(self.key) and given == self.key

    # -- reading requests ------------------------------------------------------------

    def parse(self, body: bytes) -> Any:
        """Strict JSON: UTF-8, no repeated keys, no NaN or Infinity."""

        def no_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
            made = dict(pairs)
            if len(made) != len(pairs):
                raise ValueError("repeated key")
            return made

        def no_constant(name: str) -> Any:
            raise ValueError(name)

        try:
            return json.loads(
                body.decode(), object_pairs_hook=no_repeats, parse_constant=no_constant
            )
        except (ValueError, RecursionError):
            raise RefusedError(400, "the body is not strict JSON") from None

    def check_add(self, body: Any) -> Add:
        """The known fields, validated (clauses A1 to A10); unknown keys are ignored."""
        fields = self.object(body, "body")
        messages = fields.get("messages")
        if not isinstance(messages, list) or not messages:
            raise RefusedError(422, "messages must be a non-empty list")
        return Add(
            request_id=self.id_text(fields, "request_id"),
            user_id=self.id_text(fields, "user_id"),
            session_id=self.id_text(fields, "session_id"),
            messages=tuple(self.check_message(message) for message in messages),
        )

    def check_message(self, message: Any) -> Message:
        """One message, its content as one text."""
        fields = self.object(message, "message")
        return Message(
            role=self.check_role(fields.get("role")),
            content=self.check_content(fields.get("content")),
            timestamp=self.check_timestamp(fields.get("timestamp")),
        )

    def check_role(self, role: Any) -> str:
        """Any non-empty string (A5)."""
        if not isinstance(role, str) or not role:
            raise RefusedError(422, "role must be a non-empty string")
        return self.unicode(role)

    def check_content(self, content: Any) -> str:
        """A text, or text parts as their text joined by newlines (A6, S7)."""
        if isinstance(content, str):
            return self.unicode(content)
        if not isinstance(content, list):
            raise RefusedError(422, "content must be a string or a list of parts")
        texts = []
        for part in content:
            fields = self.object(part, "part")
            if fields.get("type") != "text" or not isinstance(fields.get("text"), str):
                raise RefusedError(422, "only text parts are accepted here")
            texts.append(self.unicode(fields["text"]))
        return "\n".join(texts)

    def check_timestamp(self, timestamp: Any) -> int | None:
        """Milliseconds, floored (A7); null counts as absent."""
        if timestamp is None:
            return None
        if isinstance(timestamp, bool) or not isinstance(timestamp, int | float):
            raise RefusedError(422, "timestamp must be a number of milliseconds")
        if not 0 <= timestamp < 2**63:
            raise RefusedError(422, "timestamp must lie between 0 and 2^63")
        return math.floor(timestamp)

    def check_search(self, body: Any) -> Search:
        """The known fields, validated (clauses S1 to S4)."""
        fields = self.object(body, "body")
        query, options = fields.get("query"), fields.get("options")
        if not query:
            raise RefusedError(422, "query must not be empty")
        options = [] if options is None else options
        if not isinstance(options, list) or not all(isinstance(o, str) for o in options):
            raise RefusedError(422, "options must be a list of strings")
        return Search(
            query=self.check_content(query),
            user_id=self.id_text(fields, "user_id"),
            top_k=self.check_top_k(fields.get("top_k")),
            options=tuple(self.unicode(option) for option in options),
        )

    def check_top_k(self, top_k: Any) -> int:
        """A positive whole number; ``87.0`` is one (S3)."""
        if isinstance(top_k, bool) or not isinstance(top_k, int | float):
            raise RefusedError(422, "top_k must be a positive integer")
        if not 1 <= top_k < 2**63 or top_k != math.floor(top_k):
            raise RefusedError(422, "top_k must be a positive integer")
        return int(top_k)

    def id_text(self, fields: Mapping[str, Any], name: str) -> str:
        """An opaque, non-empty id, untouched (A1 to A3)."""
        value = fields.get(name)
        if not isinstance(value, str) or not value:
            raise RefusedError(422, f"{name} must be a non-empty string")
        return self.unicode(value)

    def object(self, value: Any, what: str) -> Mapping[str, Any]:
        """A JSON object, or a refusal."""
        if not isinstance(value, dict):
            raise RefusedError(422, f"the {what} must be an object")
        return value

    def unicode(self, text: str) -> str:
        """Kept code point for code point; lone surrogates are no text (A10)."""
        try:
            text.encode()
        except UnicodeEncodeError:
            raise RefusedError(422, "lone surrogates are not text") from None
        return text

    # -- Add -------------------------------------------------------------------------

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

    # -- Search ----------------------------------------------------------------------

    async def search(self, body: bytes) -> Reply:
        """The user's memories, most relevant first."""
        search = self.check_search(self.parse(body))
        self.reach_store()
        mine = self.memories_of(search)
        ranked = self.rank(search, mine) if search.query.strip() else []
        return Reply(200, self.search_reply(search, ranked[: search.top_k]))

    def memories_of(self, search: Search) -> list[Memory]:
        """Everything the user has stored, in order of arrival."""
        return self.memories.get(self.user_key(search.user_id), [])

    def rank(self, search: Search, memories: list[Memory]) -> list[tuple[float, Memory]]:
        """By the share of the words of query and options, then in order of arrival."""
        wanted = self.words("\n".join((search.query, *search.options)))
        scored = [(len(wanted & m.words) / max(1, len(wanted)), m) for m in memories]
        return sorted(scored, key=lambda pair: -pair[0])

    def words(self, text: str) -> frozenset[str]:
        """Words, and of runs of Han characters the pairs."""
        found: set[str] = set()
        for run in re.findall(r"[㐀-鿿𠀀-𱍏]+|[^\W㐀-鿿𠀀-𱍏]+", text.casefold()):
            if "㐀" <= run[0] <= "鿿" or run[0] >= "𠀀":
                found.update(run[i : i + 2] for i in range(max(1, len(run) - 1)))
            else:
                found.add(run)
        return frozenset(found)

    def search_reply(self, search: Search, ranked: list[tuple[float, Memory]]) -> Any:
        """The envelope of clause S5."""
        return {"data": [self.item(search, score, memory) for score, memory in ranked]}

    def item(self, search: Search, score: float, memory: Memory) -> dict[str, Any]:
        """One item; what is unknown is left out rather than null (S8, S9)."""
        item = {"id": memory.id, "content": self.content_of(memory), "score": score}
        if (created := self.created_at(memory.message.timestamp)) is not None:
            item["created_at"] = created
        return item

    def content_of(self, memory: Memory) -> str:
        """The text as it was stored (A10)."""
        return memory.message.content

    def created_at(self, timestamp: int | None) -> str | None:
        """Source time in ISO 8601 with an offset; omitted past the year 9999 (A7)."""
        if timestamp is None:
            return None
        try:
            moment = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(milliseconds=timestamp)
        except OverflowError:
            return None
        return moment.isoformat(timespec="milliseconds")
