"""FastAPI and a dict: a participant's first version, in memory.

It finds by shared words alone and returns every text in a frame of date and role.
``python -m tests.healthy.dict_server --port P``
"""

import argparse
import re
from collections import defaultdict
from datetime import UTC, datetime

import uvicorn
from fastapi import FastAPI, HTTPException
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from pydantic import BaseModel, Field


class Part(BaseModel):
    type: str = Field(pattern="^text$")
    text: str


class Message(BaseModel):
    role: str = Field(min_length=1)
    content: str | list[Part]
    timestamp: float | None = Field(default=None, ge=0, lt=2**63)

    @property
    def text(self):
        if isinstance(self.content, str):
            return self.content
        return "\n".join(part.text for part in self.content)


class Add(BaseModel):
    request_id: str = Field(min_length=1)
    user_id: str = Field(min_length=1)
    session_id: str = Field(min_length=1)
    messages: list[Message] = Field(min_length=1)


class Search(BaseModel):
    query: str | list[Part] = Field(min_length=1)
    user_id: str = Field(min_length=1)
    top_k: int = Field(ge=1)
    options: list[str] | None = None


app = FastAPI()
memories = defaultdict(list)
handled = {}


@app.exception_handler(RequestValidationError)
async def refuse(request, error):
    return JSONResponse({"detail": {"reason": "the request is not valid"}}, 422)


@app.get("/health")
async def health():
    return {"status": "healthy", "users": len(memories)}


@app.head("/add")
@app.head("/search")
async def probe():
    return None


@app.post("/add")
async def add(body: Add):
    key = (body.user_id, body.request_id)
    if handled.setdefault(key, body) != body:
        raise HTTPException(422, {"reason": "request_id was used for another body"})
    mine = memories[body.user_id]
    if not any(memory["request_id"] == body.request_id for memory in mine):
        mine += [
            {
                "id": f"{body.request_id}/{number}",
                "request_id": body.request_id,
                "content": framed(message),
                "words": words(message.text),
                "created_at": date(message.timestamp),
            }
            for number, message in enumerate(body.messages)
            if message.text.strip()
        ]
    return {
        "success": True,
        "request_id": body.request_id,
        "user_id": body.user_id,
        "session_id": body.session_id,
    }


@app.post("/search")
async def search(body: Search):
    query = body.query
    if not isinstance(query, str):
        query = "\n".join(part.text for part in query)
    wanted = words(query)
    hits = [(len(wanted & m["words"]), m) for m in memories.get(body.user_id, [])]
    hits.sort(key=lambda hit: hit[0], reverse=True)
    shown = ("id", "content", "created_at")
    return {
        "data": [
            {name: memory[name] for name in shown if memory[name] is not None}
            for score, memory in hits[: body.top_k]
            if score
        ]
    }


def framed(message):
    day = (date(message.timestamp) or "undated")[:10]
    return f"[{day}] {message.role}: {message.text}"


def words(text):
    return set(re.findall(r"[a-z0-9]+|[^\W\d_a-z]", text.lower()))


def date(timestamp):
    try:
        return datetime.fromtimestamp(timestamp / 1000, UTC).isoformat()
    except (TypeError, ValueError, OverflowError):
        return None


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--port", type=int, required=True)
    uvicorn.run(app, port=parser.parse_args().port, log_level="warning")
