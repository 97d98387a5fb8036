"""Servers that do not read every body as it travels."""

import gzip
import json

from tests.broken.correct import Correct, RefusedError


class ReadsOnce(Correct):
    """One ``recv`` is the body."""

    kills = {"transport/split-body": "whose body came in four segments was answered 400"}

    async def read_body(self, headers, receive):
        while True:
            event = await receive()
            if event.get("body") or not event.get("more_body"):
                return event.get("body", b"")


class RequiresLength(Correct):
    kills = {"transport/chunked": "a Search with a chunked body was answered 411"}

    async def read_body(self, headers, receive):
        if "content-length" not in headers:
            raise RefusedError(411, "send a Content-Length")
        return await super().read_body(headers, receive)


class RefusesExpect(Correct):
    kills = {"transport/expect-continue": "was answered 417"}

    async def route(self, method, path, headers, receive):
        if "expect" in headers:
            raise RefusedError(417, "no")
        return await super().route(method, path, headers, receive)


class CrashesOnGzip(Correct):
    """Decodes the packed bytes as text."""

    kills = {"transport/gzip-body": "an Add packed with gzip was answered 500"}

    async def read_body(self, headers, receive):
        body = await super().read_body({}, receive)
        if "content-encoding" in headers:
            body.decode()
        return body


class SkipsGzip(Correct):
    """Reads nothing of a body it does not understand, and says so to nobody."""

    kills = {"transport/gzip-body": "packed with gzip was acknowledged, and its text is not found"}

    async def read_body(self, headers, receive):
        body = await super().read_body({}, receive)
        return await self.unpacked(body) if "content-encoding" in headers else body

    async def unpacked(self, body):
        add = json.loads(gzip.decompress(body))
        return json.dumps(add | {"messages": [{"role": "user", "content": " "}]}).encode()


class CrashesOnByteOrderMarks(Correct):
    kills = {"transport/other-charsets": "begins with a byte order mark was answered 500"}

    def parse(self, body):
        if body.startswith(b"\xef\xbb\xbf"):
            raise ValueError("unexpected UTF-8 BOM")
        return super().parse(body)


class ReadsLatin1AsUTF8(Correct):
    """Whatever the charset, and puts a question mark where it does not fit."""

    kills = {"transport/other-charsets": "in Latin-1 was acknowledged, and its text comes back"}

    def parse(self, body):
        return super().parse(body.decode(errors="replace").encode())
