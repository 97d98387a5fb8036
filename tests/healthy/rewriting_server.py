"""aiohttp, and a memory that keeps facts: never what was said, but what follows from it.

As systems with a model in their Add do, it takes its time for a chunk, cuts it into clauses,
puts each in the third person, leaves small words out, and keeps two facts of the same words
as one. The model is a handful of rules here, so that runs can be repeated.
``python -m tests.healthy.rewriting_server --port P --data DIR [--think SECONDS]``
"""

import argparse
import asyncio
import hashlib
import json
import os
import re
from datetime import UTC, datetime, timedelta
from pathlib import Path

from aiohttp import web

LONGEST = 240
"""Characters of what one fact tells; its topic stands before it."""
CLAUSE = re.compile(r"(?<=[.!?;:。！？；])\s+|\n+|, (?=\w+ \w+)|[，。！？；]")
THIRD_PERSON = {
    "i": "the user",
    "me": "the user",
    "we": "the user",
    "us": "the user",
    "my": "the user's",
    "our": "the user's",
}
SMALL = {"a", "an", "the", "then", "old", "really", "just", "says"}


def facts_of(text):
    """The facts that a message holds; each names what the message is about."""
    clauses = [rewritten(clause) for clause in CLAUSE.split(text) if re.search(r"\w", clause)]
    topic, *others = clauses or [""]
    for told in others or [topic]:
        for at in range(0, len(told), LONGEST):
            part = told[at : at + LONGEST]
            yield f"{topic[:LONGEST]}: {part}" if others or at else part


def rewritten(clause):
    words = [THIRD_PERSON.get(word.lower(), word) for word in clause.split()]
    kept = [word for word in words if word.lower() not in SMALL] or words
    return " ".join(kept).strip(" .;:,")


def words(text):
    return set(re.findall(r"[a-z0-9]+|[^\W_a-z0-9]", text.lower()))


class Facts:
    """Every user's facts, made from a journal with one line for each chunk."""

    def __init__(self, directory):
        directory.mkdir(parents=True, exist_ok=True)
        path = directory / "facts.jsonl"
        self.journal = path.open("ab+")
        self.journal.seek(0)
        whole = self.journal.read()
        *lines, torn = whole.split(b"\n")
        self.journal.truncate(len(whole) - len(torn))
        self.users, self.done = {}, {}
        for line in lines:
            self.learn(json.loads(line))

    def write(self, chunk):
        self.journal.write(json.dumps(chunk).encode() + b"\n")
        self.journal.flush()
        os.fsync(self.journal.fileno())

    def learn(self, chunk):
        facts = self.users.setdefault(chunk["user"], {})
        for number, (text, time) in enumerate(chunk["facts"]):
            if (said := frozenset(words(text))) in facts:
                facts[said] |= {"text": text, "time": time or facts[said]["time"]}
                continue
            name = json.dumps([chunk["user"], chunk["request"], number]).encode()
            facts[said] = {
                "id": f"fact_{hashlib.sha1(name).hexdigest()}",
                "text": text,
                "time": time,
            }
        self.done[chunk["user"], chunk["request"]] = chunk["digest"]

    def search(self, user, query, top_k):
        wanted = words(query)
        facts = self.users.get(user, {})
        scored = [(len(wanted & said) / len(said), fact) for said, fact in facts.items()]
        scored.sort(key=lambda hit: -hit[0])
        return [hit for hit in scored if hit[0]][:top_k]


routes = web.RouteTableDef()
FACTS = web.AppKey("facts", Facts)
THINK = web.AppKey("think", float)
UNDER_WAY = web.AppKey("under_way", dict)


@routes.get("/health")
async def health(request):
    return web.Response(status=204)


@routes.head("/v1/memories")
@routes.head("/v1/memories/search")
async def probe(request):
    return web.Response()


@routes.post("/v1/memories")
async def add(request):
    body = await read_object(request)
    user, chunk, session = (read_id(body, n) for n in ("user_id", "request_id", "session_id"))
    if not isinstance(body.get("messages"), list) or not body["messages"]:
        raise refusal("messages")
    turns = [read_turn(message) for message in body["messages"]]
    digest = hashlib.sha1(json.dumps([session, turns]).encode()).hexdigest()
    # A chunk is learnt to its end although its client has gone; repeats wait for the first.
    under_way = request.app[UNDER_WAY]
    if (user, chunk) not in under_way:
        work = asyncio.create_task(learn(request.app, user, chunk, digest, turns))
        under_way[user, chunk] = work
        work.add_done_callback(lambda _: under_way.pop((user, chunk)))
    if await asyncio.shield(under_way[user, chunk]) != digest:
        raise refusal("request_id")
    return web.json_response(
        {"success": True, "request_id": chunk, "user_id": user, "session_id": session}
    )


async def learn(app, user, chunk, digest, turns):
    """Think, write, remember; the digest of what is known under this request_id."""
    facts = app[FACTS]
    if (user, chunk) not in facts.done:
        await asyncio.sleep(app[THINK])
        found = [
            (f"{role}: {fact}" if role != "user" else fact, time)
            for role, text, time in turns
            for fact in facts_of(text)
        ]
        line = {"user": user, "request": chunk, "digest": digest, "facts": found}
        await asyncio.to_thread(facts.write, line)
        facts.learn(line)
    return facts.done[user, chunk]


@routes.post("/v1/memories/search")
async def search(request):
    body = await read_object(request)
    user, top_k, options = read_id(body, "user_id"), body.get("top_k"), body.get("options") or []
    if type(top_k) not in (int, float) or top_k < 1 or top_k % 1:
        raise refusal("top_k")
    if not isinstance(options, list) or not all(isinstance(option, str) for option in options):
        raise refusal("options")
    if not body.get("query"):
        raise refusal("query")
    query = read_text(body["query"])
    hits = request.app[FACTS].search(user, query, int(top_k))
    return web.json_response(
        {
            "data": [
                {"id": f["id"], "content": f["text"], "score": score, **dated(f["time"])}
                for score, f in hits
            ]
        }
    )


def dated(time):
    try:
        moment = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(milliseconds=time)
    except (TypeError, OverflowError):
        return {}
    return {"created_at": moment.isoformat()}


def refusal(what):
    text = json.dumps({"detail": {"reason": f"{what} is not valid"}})
    return web.HTTPUnprocessableEntity(text=text, content_type="application/json")


async def read_object(request):
    try:
        body = json.loads((await request.read()).decode())
    except (ValueError, RecursionError):
        raise refusal("the body") from None
    if not isinstance(body, dict):
        raise refusal("the body")
    return body


def read_id(body, name):
    if not isinstance(body.get(name), str) or not body[name]:
        raise refusal(name)
    return whole(body[name])


def read_turn(message):
    if not isinstance(message, dict):
        raise refusal("messages")
    time = message.get("timestamp")
    if time is not None and (type(time) not in (int, float) or not 0 <= time < 2**63):
        raise refusal("timestamp")
    return read_id(message, "role"), read_text(message.get("content")), time and float(time)


def read_text(content):
    if isinstance(content, list) and all(
        isinstance(part, dict) and part.get("type") == "text" for part in content
    ):
        return "\n".join(read_text(part.get("text")) for part in content)
    if not isinstance(content, str):
        raise refusal("content")
    return whole(content)


def whole(text):
    try:
        text.encode()
    except UnicodeEncodeError:
        raise refusal("half a surrogate pair") from None
    return text


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--think", type=float, default=0.3)
    options = parser.parse_args()
    app = web.Application(client_max_size=64 * 2**20)
    app[FACTS], app[THINK], app[UNDER_WAY] = Facts(options.data), options.think, {}
    app.add_routes(routes)
    web.run_app(app, host="127.0.0.1", port=options.port, print=None, backlog=512, access_log=None)


if __name__ == "__main__":
    main()
