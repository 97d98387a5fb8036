"""Servers that fail where they should refuse."""

import json
import traceback

from tests.broken.correct import Correct, RefusedError, Reply


class CrashesOnMalformed(Correct):
    kills = {"errors/malformed-json": "truncated JSON sent to Add was answered 500"}

    def parse(self, body):
        return json.loads(body)


class TakesTheFirstOfAnArray(Correct):
    kills = {"errors/malformed-json": "an array instead of an object sent to Add was answered 200"}

    def object(self, value, what):
        return super().object(value[0] if isinstance(value, list) and value else value, what)


class ReadsTheFirstValue(Correct):
    """As a streaming decoder does."""

    kills = {"errors/malformed-json": "a second JSON value after the first sent to Add"}
    risks = frozenset({"errors/malformed-json"})

    def parse(self, body):
        try:
            return json.JSONDecoder().raw_decode(body.decode())[0]
        except ValueError:
            raise RefusedError(400, "the body is not JSON") from None


class AcknowledgesAnything(Correct):
    """Success before reading."""

    kills = {"errors/malformed-json": "truncated JSON sent to Add was answered 200"}

    async def add(self, body):
        try:
            return await super().add(body)
        except RefusedError:
            return Reply(200, {"success": True})


class TrustsFields(Correct):
    """``body["session_id"]``."""

    kills = {"errors/invalid-fields": "Add without session_id (500)"}

    def id_text(self, fields, name):
        return self.unicode(fields[name])


class ConvertsIds(Correct):
    kills = {"errors/invalid-fields": "accepted as if valid: Add with request_id a number"}

    def id_text(self, fields, name):
        value = fields.get(name)
        return super().id_text({name: str(value) if isinstance(value, int) else value}, name)


class OverflowsTimestamps(Correct):
    kills = {"errors/never-succeeds": "timestamp 1e400 (500)"}

    def parse(self, body):
        try:
            return json.loads(body)
        except ValueError:
            raise RefusedError(400, "the body is not JSON") from None

    def check_timestamp(self, timestamp):
        return None if timestamp is None else int(timestamp)


class OverflowsTheStack(Correct):
    kills = {"errors/never-succeeds": "5,000 nested lists (500)"}

    def parse(self, body):
        if body.count(b"[") > 1_000:
            raise RecursionError
        return super().parse(body)


class EchoesInput(Correct):
    """As a framework's default 422 does."""

    kills = {"errors/no-leak": "the error 422 repeats the payload"}

    def check_add(self, body):
        try:
            return super().check_add(body)
        except RefusedError as refused:
            raise RefusedError(refused.status, f"{refused.reason}: {body}") from None


class ShowsTracebacks(Correct):
    kills = {"errors/no-leak": "shows a traceback"}

    def error(self, status, reason):
        return super().error(status, reason + "\n" + "".join(traceback.format_stack()) + TRACE)


TRACE = "Traceback (most recent call last):"


class ShowsStateInHealth(Correct):
    """What it did last, for whoever asks."""

    kills = {"errors/no-leak": "health, which is open to everyone, shows what was stored"}

    def health(self):
        last = next(reversed(self.memories.values()), [])
        return Reply(200, {"status": "ok", "last": [m.message.content for m in last]})


class AnswersWithPages(Correct):
    """As a framework does that was made for people."""

    kills = {"errors/html-page": "the error 400 of Add is a page of HTML"}

    def error(self, status, reason):
        page = f"<!DOCTYPE html>\n<html><h1>{status}</h1><p>{reason}</p></html>"
        return Reply(status, page.encode(), {"content-type": "text/html"})


class WedgedByErrors(Correct):
    """A lock is not given back on the way out."""

    kills = {"errors/still-alive": "after bad requests, an ordinary Add"}

    def __init__(self, *given, **settings):
        super().__init__(*given, **settings)
        self.locked = False

    async def add(self, body):
        if self.locked:
            raise RefusedError(503, "busy")
        self.locked = True
        reply = await super().add(body)
        self.locked = False
        return reply


class CrashesOnMethods(Correct):
    kills = {"errors/wrong-method": "GET on Add was answered 500"}

    async def route(self, method, path, headers, receive):
        if path == "/add" and method not in ("POST", "HEAD"):
            raise LookupError(method)
        return await super().route(method, path, headers, receive)
