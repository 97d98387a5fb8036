"""HTTP: routes, keys, bodies, and how answers leave (clauses E, F, K)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from tests.broken.parts.values import RefusedError, Reply

MAX_BODY = 64 * 2**20
"""Bytes; above a legal Multimodal Add of about 41 MiB (clause M1)."""


class Wire:
    """The server as an ASGI application."""

    scheme: str
    key: str

    def uvicorn_settings(self) -> dict[str, Any]:
        """How uvicorn serves this application."""
        return {"log_level": "warning", "ws": "none", "timeout_keep_alive": 75}

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

    async def add(self, body: bytes) -> Reply:
        """Answer an Add; whoever is made of this part has one."""
        raise NotImplementedError

    async def search(self, body: bytes) -> Reply:
        """Answer a Search; whoever is made of this part has one."""
        raise NotImplementedError
