"""Starlette and pydantic: the strict reading of everything that readers disagree about.

Unknown fields, other roles, part lists, blank turns and a ``top_k`` above 100 are refused,
all with 400; another body under a known request_id is taken for a repeat. Answers hold keys
of its own. Each user has a file, named by a hash of the id; the key travels as ``X-Api-Key``.
``python -m tests.healthy.strict_server --port P --data DIR``, the key in ``$AML_KEY``
"""

import argparse
import asyncio
import base64
import hashlib
import hmac
import json
import os
import re
import secrets
from collections import Counter, defaultdict
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Annotated, Literal

import uvicorn
from pydantic import BaseModel, ConfigDict, Field, ValidationError
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse
from starlette.routing import Route

Text = Annotated[str, Field(min_length=1, pattern=r"\S")]
Id = Annotated[str, Field(min_length=1)]


class Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, allow_inf_nan=False)


class Message(Strict):
    role: Literal["user", "assistant"]
    content: Text
    timestamp: float | None = Field(default=None, ge=0, lt=2**63)


class Add(Strict):
    request_id: Id
    user_id: Id
    session_id: Id
    messages: list[Message] = Field(min_length=1)


class Search(Strict):
    query: Text
    user_id: Id
    top_k: float = Field(ge=1, le=100, multiple_of=1)
    options: list[str] | None = None


class Store:
    """A file for each user, one line for each chunk, on the disk before the answer."""

    def __init__(self, directory):
        self.directory = directory
        self.users = {}
        self.turns = defaultdict(asyncio.Lock)

    def file(self, user):
        name = base64.b32encode(hashlib.blake2b(user.encode(), digest_size=20).digest()).decode()
        return self.directory / f"{name.lower()}.jsonl"

    def chunks(self, user):
        """The user's chunks by request_id; a line that a crash has cut was never answered."""
        if user not in self.users:
            try:
                whole = self.file(user).read_bytes()
            except FileNotFoundError:
                return {}
            *lines, torn = whole.split(b"\n")
            os.truncate(self.file(user), len(whole) - len(torn))
            chunks = [json.loads(line) for line in lines]
            self.users[user] = {chunk["request_id"]: chunk["memories"] for chunk in chunks}
        return self.users[user]

    async def add(self, chunk):
        async with self.turns[chunk.user_id]:
            known = self.chunks(chunk.user_id)
            if chunk.request_id in known:
                return known[chunk.request_id]
            memories = [
                {"id": secrets.token_urlsafe(12), "text": m.content, "time": m.timestamp}
                for m in chunk.messages
            ]
            line = json.dumps({"request_id": chunk.request_id, "memories": memories})
            await asyncio.to_thread(self.append, self.file(chunk.user_id), line.encode() + b"\n")
            self.users.setdefault(chunk.user_id, {})[chunk.request_id] = memories
            return memories

    @staticmethod
    def append(file, line):
        with file.open("ab") as out:
            out.write(line)
            out.flush()
            os.fsync(out.fileno())

    def search(self, user, query, top_k):
        wanted = words(query)
        hits = []
        for chunk in self.chunks(user).values():
            for memory in chunk:
                have = words(memory["text"])
                shared = sum((wanted & have).values())
                if shared:
                    hits.append((2 * shared / (wanted.total() + have.total()), memory))
        hits.sort(key=lambda hit: -hit[0])
        return hits[:top_k]


def words(text):
    return Counter(re.findall(r"[a-z0-9]+|[^\W_a-z0-9]", text.lower()))


async def read(request, model):
    key = request.headers.get("x-api-key", "").encode("latin-1")
    if not hmac.compare_digest(key, request.app.state.key.encode()):
        raise HTTPException(401, "wrong key")
    kind = request.headers.get("content-type", "application/json").partition(";")[0]
    if kind.strip().lower() != "application/json":
        raise HTTPException(400, "send application/json")
    try:
        return model.model_validate_json(await request.body())
    except ValidationError as error:
        where = {".".join(map(str, one["loc"])) for one in error.errors()}
        raise HTTPException(400, f"not valid: {', '.join(sorted(where))}") from None


async def health(request):
    return JSONResponse({"status": "ok"})


async def add(request):
    chunk = await read(request, Add)
    memories = await request.app.state.store.add(chunk)
    ids = {name: getattr(chunk, name) for name in ("request_id", "user_id", "session_id")}
    return JSONResponse({"success": True, **ids, "memory_ids": [m["id"] for m in memories]})


async def search(request):
    body = await read(request, Search)
    hits = request.app.state.store.search(body.user_id, body.query, int(body.top_k))
    data = [
        {"id": m["id"], "content": m["text"], "score": score, "source": "file", **dated(m["time"])}
        for score, m in hits
    ]
    return JSONResponse({"data": data, "count": len(data)})


def dated(time):
    try:
        moment = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(milliseconds=time)
    except (TypeError, OverflowError):
        return {}
    return {"created_at": moment.isoformat()}


async def refuse(request, error):
    return JSONResponse({"detail": {"reason": error.detail}}, error.status_code)


app = Starlette(
    routes=[
        Route("/health", health),
        Route("/add", add, methods=["POST"]),
        Route("/search", search, methods=["POST"]),
    ],
    exception_handlers={HTTPException: refuse},
)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--data", type=Path, required=True)
    options = parser.parse_args()
    options.data.mkdir(parents=True, exist_ok=True)
    app.state.key = os.environ["AML_KEY"]
    app.state.store = Store(options.data)
    uvicorn.run(app, port=options.port, http="h11", loop="asyncio", log_level="warning")
