"""Flask behind waitress: blocking handlers in eight threads, and SQLite with an index of words.

A message makes up to three records, so that a hit may come thrice. Every item says when and
by whom; there are no scores and no ``created_at``. ``top_k`` is clamped to 100, whatever is
wrong is a 400, and the key travels as ``Authorization: Token``.
``python -m tests.healthy.flask_server --port P --data DIR``, the key in ``$AML_KEY``
"""

import argparse
import hashlib
import hmac
import json
import os
import re
import sqlite3
import threading
import uuid
from datetime import UTC, datetime
from pathlib import Path

import waitress
from flask import Flask, abort, g, request
from werkzeug.exceptions import HTTPException

MOST = 100
OVERVIEW = 12
"""Words of a record about how a message begins or ends."""
SCHEMA = """
CREATE TABLE IF NOT EXISTS chunk (
    user TEXT, request TEXT, digest TEXT, PRIMARY KEY (user, request)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS memory (
    number INTEGER PRIMARY KEY, id TEXT, role TEXT, text TEXT, time REAL
);
CREATE TABLE IF NOT EXISTS term (
    user TEXT, term TEXT, memory INTEGER, PRIMARY KEY (user, term, memory)
) WITHOUT ROWID;
"""
FIND = """
SELECT id, role, text, time FROM memory JOIN (
    SELECT memory, count(*) AS shared FROM term
    WHERE user = ? AND term IN (SELECT value FROM json_each(?)) GROUP BY memory
) ON memory = number
ORDER BY shared DESC, number DESC LIMIT ?
"""

app = Flask(__name__)
app.json.sort_keys = False
app.config["MAX_CONTENT_LENGTH"] = 64 * 2**20
writing = threading.Lock()


def connect():
    """The thread's own connection, for this request."""
    if "db" not in g:
        g.db = sqlite3.connect(app.config["FILE"], timeout=30, isolation_level=None)
        g.db.execute("PRAGMA synchronous = FULL")
    return g.db


@app.teardown_appcontext
def disconnect(error):
    if "db" in g:
        g.db.close()


@app.errorhandler(HTTPException)
def refuse(error):
    status = 400 if error.code in (415, 422) else error.code
    return {"error": error.name, "detail": {"reason": error.description}}, status


@app.before_request
def check_key():
    if request.path == "/health":
        return
    scheme, _, key = request.headers.get("Authorization", "").partition(" ")
    right = hmac.compare_digest(key.encode(errors="replace"), app.config["KEY"].encode())
    if scheme.lower() != "token" or not right:
        abort(403, "no valid key")


@app.get("/health")
def health():
    return "I am fine", 200, {"Content-Type": "text/plain"}


@app.post("/add")
def add():
    body = read_object()
    user, chunk, session = (read_id(body, n) for n in ("user_id", "request_id", "session_id"))
    messages = body.get("messages")
    if not isinstance(messages, list) or not messages:
        abort(400, "messages must be a list with something in it")
    turns = [read_turn(message) for message in messages]
    digest = hashlib.sha256(json.dumps([session, turns]).encode()).hexdigest()
    with writing, connect() as db:
        db.execute("BEGIN IMMEDIATE")
        known = db.execute(
            "SELECT digest FROM chunk WHERE user = ? AND request = ?", (user, chunk)
        ).fetchone()
        if known and known[0] != digest:
            abort(400, "request_id came with another body before")
        if not known:
            db.execute("INSERT INTO chunk VALUES (?, ?, ?)", (user, chunk, digest))
            for turn in turns:
                remember(db, user, *turn)
    return {"success": True, "request_id": chunk, "user_id": user, "session_id": session}


def remember(db, user, role, text, time):
    """As it is, and up to twice more: how it begins, and how it ends."""
    words = text.split()
    views = {" ".join(words[:OVERVIEW]), " ".join(words[-OVERVIEW:])} - {text}
    for view in [*sorted(views), text] if words else []:
        number = db.execute(
            "INSERT INTO memory (id, role, text, time) VALUES (?, ?, ?, ?)",
            (str(uuid.uuid4()), role, view, time),
        ).lastrowid
        found_by = [(user, term, number) for term in terms(view)]
        db.executemany("INSERT INTO term VALUES (?, ?, ?)", found_by)


@app.post("/search")
def search():
    body = read_object()
    user, top_k, options = read_id(body, "user_id"), body.get("top_k"), body.get("options") or []
    if type(top_k) not in (int, float) or top_k < 1 or top_k % 1:
        abort(400, "top_k must be a whole number from 1")
    if not isinstance(options, list) or not all(isinstance(option, str) for option in options):
        abort(400, "options must be a list of strings")
    if not body.get("query"):
        abort(400, "query must not be empty")
    wanted = terms("\n".join([read_text(body["query"]), *map(whole, options)]))
    found = connect().execute(FIND, (user, json.dumps(sorted(wanted)), min(int(top_k), MOST)))
    return {"data": [{"id": row[0], "content": told(*row[1:])} for row in found]}


def told(role, text, time):
    try:
        day = datetime.fromtimestamp(time / 1000, UTC)
    except (TypeError, ValueError, OverflowError):
        return f"{role} said: {text}"
    return f"On {day:%A}, {day.day} {day:%B} {day:%Y at %H:%M}, {role} said: {text}"


def terms(text):
    """Words, and of what is written without spaces each character."""
    return set(re.findall(r"[a-z0-9]+|[^\W_a-z0-9]", text.lower()))


def read_object():
    try:
        body = json.loads(request.get_data().decode())
    except (ValueError, RecursionError):
        abort(400, "the body is not JSON")
    if not isinstance(body, dict):
        abort(400, "the body must be an object")
    return body


def read_id(body, name):
    if not isinstance(body.get(name), str) or not body[name]:
        abort(400, f"{name} must be a string that is not empty")
    return whole(body[name])


def read_turn(message):
    if not isinstance(message, dict):
        abort(400, "a message must be an object")
    time = message.get("timestamp")
    if time is not None and (type(time) not in (int, float) or not 0 <= time < 2**63):
        abort(400, "timestamp must be milliseconds since 1970")
    time = None if time is None else float(time)
    return read_id(message, "role"), read_text(message.get("content")), time


def read_text(content):
    if isinstance(content, list) and all(
        isinstance(part, dict) and part.get("type") == "text" for part in content
    ):
        return "\n".join(read_text(part.get("text")) for part in content)
    if not isinstance(content, str):
        abort(400, "this memory is for text")
    return whole(content)


def whole(text):
    try:
        text.encode()
    except UnicodeEncodeError:
        abort(400, "half a surrogate pair is no text")
    return text


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--data", type=Path, required=True)
    options = parser.parse_args()
    options.data.mkdir(parents=True, exist_ok=True)
    app.config.update(FILE=options.data / "memory.sqlite", KEY=os.environ["AML_KEY"])
    with sqlite3.connect(app.config["FILE"]) as db:
        db.executescript("PRAGMA journal_mode = WAL;" + SCHEMA)
    waitress.serve(app, host="127.0.0.1", port=options.port, threads=8, backlog=512)


if __name__ == "__main__":
    main()
