"""The standard library alone: http.server with a real listen backlog, and SQLite on disk.

Every hit comes with the turns around it.
``python -m tests.healthy.stdlib_server --port P --data DIR``
"""

import argparse
import json
import re
import sqlite3
import threading
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

LARGEST_BODY = 50 * 2**20
SCHEMA = """
CREATE TABLE IF NOT EXISTS request (
    user TEXT, request TEXT, body TEXT, PRIMARY KEY (user, request)
);
CREATE TABLE IF NOT EXISTS memory (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    user TEXT, session TEXT, text TEXT, time INTEGER
);
CREATE INDEX IF NOT EXISTS memory_of_user ON memory (user);
"""


class RefusedError(Exception):
    def __init__(self, status, reason):
        super().__init__(reason)
        self.status = status
        self.reason = reason


class Store:
    """One connection behind one lock; each Add is one transaction."""

    def __init__(self, data):
        data.mkdir(parents=True, exist_ok=True)
        self.lock = threading.Lock()
        self.db = sqlite3.connect(data / "memory.db", check_same_thread=False)
        self.db.executescript("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;" + SCHEMA)

    def add(self, user, request, session, messages):
        body = json.dumps([session, messages])
        with self.lock, self.db:
            row = self.db.execute(
                "SELECT body FROM request WHERE user = ? AND request = ?", (user, request)
            ).fetchone()
            if row and row[0] != body:
                raise RefusedError(422, "this request_id was used for another body")
            if row:
                return
            self.db.execute("INSERT INTO request VALUES (?, ?, ?)", (user, request, body))
            self.db.executemany(
                "INSERT INTO memory (user, session, text, time) VALUES (?, ?, ?, ?)",
                [(user, session, text, time) for _, text, time in messages if text.strip()],
            )

    def search(self, user, query, top_k):
        with self.lock:
            rows = self.db.execute(
                "SELECT id, session, text, time FROM memory WHERE user = ? ORDER BY id", (user,)
            ).fetchall()
        wanted = words(query)
        scores = [len(wanted & words(text)) for _, _, text, _ in rows]
        best = sorted((n for n, s in enumerate(scores) if s), key=lambda n: (-scores[n], -n))
        return [self.item(rows, number, scores[number]) for number in best[:top_k]]

    def item(self, rows, number, score):
        row_id, session, _, time = rows[number]
        around = rows[max(0, number - 1) : number + 2]
        content = "\n".join(text for _, other, text, _ in around if other == session)
        item = {"id": f"memory-{row_id}", "content": content, "score": float(score)}
        try:
            moment = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(milliseconds=time)
        except (TypeError, OverflowError):
            return item
        return {**item, "created_at": moment.isoformat().replace("+00:00", "Z")}


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    wbufsize = 2**16
    timeout = 60

    def do_GET(self):
        if self.path == "/health":
            self.answer(204, None)
        else:
            self.answer(404, {"detail": {"reason": "no such path"}})

    def do_HEAD(self):
        self.answer(200 if self.path in ("/health", "/add", "/search") else 404, None)

    def do_POST(self):
        try:
            body = self.read_body()
            routes = {"/add": self.add, "/search": self.search}
            self.answer(200, routes.get(self.path, self.nowhere)(parse(body)))
        except RefusedError as refused:
            self.answer(refused.status, {"detail": {"reason": refused.reason}})
        except sqlite3.Error:
            self.answer(503, {"detail": {"reason": "the store is not available"}})

    def read_body(self):
        if self.headers.get("Transfer-Encoding", "").lower() == "chunked":
            return b"".join(self.chunks())
        length = self.headers.get("Content-Length", "")
        if not length.isdigit():
            self.close_connection = True
            raise RefusedError(411, "Content-Length is missing")
        if int(length) > LARGEST_BODY:
            self.close_connection = True
            raise RefusedError(413, "the body is too large")
        return self.rfile.read(int(length))

    def chunks(self):
        left = LARGEST_BODY
        while size := int(self.rfile.readline(20).split(b";")[0], 16):
            left -= size
            if left < 0:
                self.close_connection = True
                raise RefusedError(413, "the body is too large")
            yield self.rfile.read(size)
            self.rfile.readline(3)
        while self.rfile.readline(1000).strip():
            pass

    def add(self, body):
        user, request, session = (
            text_of(body, name) for name in ("user_id", "request_id", "session_id")
        )
        messages = body.get("messages")
        if not isinstance(messages, list) or not messages:
            raise RefusedError(400, "messages must be a list that is not empty")
        self.server.store.add(user, request, session, [message_of(m) for m in messages])
        return {
            "success": True,
            "request_id": request,
            "user_id": user,
            "session_id": session,
        }

    def search(self, body):
        user, top_k, options = text_of(body, "user_id"), body.get("top_k"), body.get("options")
        if isinstance(top_k, bool) or not isinstance(top_k, int | float) or top_k < 1:
            raise RefusedError(400, "top_k must be a positive integer")
        if top_k != top_k // 1:
            raise RefusedError(400, "top_k must be a whole number")
        if not isinstance(options or [], list) or any(
            not isinstance(option, str) for option in options or []
        ):
            raise RefusedError(400, "options must be a list of strings")
        if not body.get("query"):
            raise RefusedError(400, "query must not be empty")
        query = content_of(body["query"])
        return {"data": self.server.store.search(user, query, int(top_k))}

    def nowhere(self, body):
        raise RefusedError(404, "no such path")

    def answer(self, status, body):
        data = b"" if body is None else json.dumps(body).encode()
        self.send_response(status)
        if status != 204:
            self.send_header("Content-Type", "application/json; charset=utf-8")
            self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *args):
        pass


class Server(ThreadingHTTPServer):
    request_queue_size = 128
    daemon_threads = True


def parse(body):
    try:
        parsed = json.loads(body.decode())
    except (ValueError, RecursionError):
        raise RefusedError(400, "the body is not JSON") from None
    if not isinstance(parsed, dict):
        raise RefusedError(400, "the body must be an object")
    return parsed


def text_of(body, name):
    value = body.get(name)
    if not isinstance(value, str) or not value:
        raise RefusedError(400, f"{name} must be a string that is not empty")
    return whole(value)


def message_of(message):
    if not isinstance(message, dict) or not isinstance(message.get("role"), str):
        raise RefusedError(400, "a message has a role and a content")
    if not message["role"]:
        raise RefusedError(400, "role must not be empty")
    time = message.get("timestamp")
    if time is not None:
        if isinstance(time, bool) or not isinstance(time, int | float) or not 0 <= time < 2**63:
            raise RefusedError(400, "timestamp must be milliseconds")
        time = int(time)
    return whole(message["role"]), content_of(message.get("content")), time


def content_of(content):
    if isinstance(content, list):
        for part in content:
            if not isinstance(part, dict) or part.get("type") != "text":
                raise RefusedError(400, "only text is stored here")
        content = "\n".join(content_of(part.get("text")) for part in content)
    if not isinstance(content, str):
        raise RefusedError(400, "content must be text")
    return whole(content)


def whole(text):
    try:
        text.encode()
    except UnicodeEncodeError:
        raise RefusedError(400, "a lone surrogate is no text") from None
    return text


def words(text):
    return set(re.findall(r"[a-z0-9]+|[^\W\d_a-z]", text.lower()))


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--data", type=Path, required=True)
    options = parser.parse_args()
    server = Server(("127.0.0.1", options.port), Handler)
    server.store = Store(options.data)
    server.serve_forever()
