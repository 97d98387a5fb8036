"""A small memory on a real socket that writes down what was sent to it."""

import contextlib
import json
import threading
from collections import defaultdict
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class Memory(ThreadingHTTPServer):
    """Returns every message of a user, newest first; override ``on_add`` and ``on_search``."""

    request_queue_size = 128
    daemon_threads = True
    block_on_close = False

    def __init__(self, port=0):
        super().__init__(("127.0.0.1", port), _Handler)
        self.lock = threading.Lock()
        self.adds, self.searches, self.headers_seen = [], [], []
        self.stored = defaultdict(list)
        self.in_flight = defaultdict(int)
        self.most_by_user = 0
        self.most_users = 0

    @property
    def url(self):
        return f"http://127.0.0.1:{self.server_address[1]}"

    def on_add(self, body):
        self.stored[body["user_id"]].extend(message["content"] for message in body["messages"])
        ids = {key: body[key] for key in ("request_id", "user_id", "session_id")}
        return 200, {"success": True, **ids}

    def on_search(self, body):
        texts = self.stored[body["user_id"]][::-1]
        items = [{"id": f"m{n}", "content": text} for n, text in enumerate(texts)]
        return 200, {"data": items[: body["top_k"]]}

    def answer(self, path, body):
        if path == "/add":
            with self.lock:
                self.adds.append(body)
                user = body["user_id"]
                self.in_flight[user] += 1
                self.most_by_user = max(self.most_by_user, self.in_flight[user])
                self.most_users = max(self.most_users, sum(map(bool, self.in_flight.values())))
            try:
                return self.on_add(body)
            finally:
                with self.lock:
                    self.in_flight[user] -= 1
        with self.lock:
            self.searches.append(body)
        return self.on_search(body)


@contextlib.contextmanager
def serving(kind=Memory):
    """A running server of that kind."""
    with kind() as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def do_GET(self):
        self.reply(200, {"status": "ok"})

    def do_HEAD(self):
        self.reply(200, None)

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        self.server.headers_seen.append({k.lower(): v for k, v in self.headers.items()})
        self.reply(*self.server.answer(self.path, body))

    def reply(self, status, body):
        data = (
            b"" if body is None else body if isinstance(body, bytes) else json.dumps(body).encode()
        )
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_):
        pass
