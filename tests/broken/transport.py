"""Servers that are wrong about HTTP itself."""

import asyncio

from uvicorn.protocols.http.h11_impl import H11Protocol

from tests.broken.correct import Correct, RefusedError, Reply


class Redirects(Correct):
    """The path was registered without its slash."""

    kills = {"transport/no-redirect": "Add was redirected (307) to /add/"}

    async def route(self, method, path, headers, receive):
        if path in ("/add", "/search"):
            return Reply(307, b"", {"location": path + "/"})
        return await super().route(method, path.rstrip("/"), headers, receive)


class OneCurrentRequest(Correct):
    """The request being served is a global."""

    kills = {"transport/parallel": "answered with another's user_id"}

    def check_add(self, body):
        self.current = super().check_add(body)
        return self.current

    async def store(self, add):
        await super().store(add)
        await asyncio.sleep(0.05)

    def add_reply(self, add):
        return super().add_reply(self.current)


class OneCurrentStore(Correct):
    """The store being written is a global; the ids are right."""

    kills = {"transport/parallel": "a user's acknowledged message was not found"}

    def check_add(self, body):
        self.current = super().check_add(body)
        return self.current

    async def store(self, add):
        await asyncio.sleep(0.05)
        self.index(self.current)


class BrokenByParallelism(Correct):
    """A handle used by two at once is never usable again."""

    kills = {"transport/parallel": "was answered 500 again and again"}
    broken = False

    async def store(self, add):
        self.broken = self.broken or len(self.pending) > 1
        if self.broken:
            raise RuntimeError("objects created in one thread are used in another")
        await asyncio.sleep(0.05)
        await super().store(add)


class ComparesContentTypes(Correct):
    kills = {"transport/content-type": "content type application/json; charset=utf-8"}

    async def route(self, method, path, headers, receive):
        if method == "POST" and headers.get("content-type", "").lower() != "application/json":
            raise RefusedError(415, "send application/json")
        return await super().route(method, path, headers, receive)


class RequiresContentTypes(Correct):
    kills = {"transport/content-type": "a Search without a content type was answered 415"}

    async def route(self, method, path, headers, receive):
        if method == "POST" and "content-type" not in headers:
            raise RefusedError(415, "send application/json")
        return await super().route(method, path, headers, receive)


class CaseSensitiveProtocol(H11Protocol):
    """Looks for Content-Length as it is usually spelled."""

    def data_received(self, data):
        if data.startswith(b"POST") and b"Content-Length:" not in data:
            self.transport.write(b"HTTP/1.1 411 Length Required\r\nContent-Length: 0\r\n\r\n")
            self.transport.close()
        else:
            super().data_received(data)


class CaseSensitive(Correct):
    kills = {"transport/header-case": "header names in lower case was answered 411"}

    def uvicorn_settings(self):
        return super().uvicorn_settings() | {"http": CaseSensitiveProtocol}
