"""Servers that are right until many ask at once."""

import asyncio
import contextlib

import uvicorn.protocols.http.h11_impl as h11_impl

from tests.broken.correct import Correct, RefusedError


class Counted(Correct):
    """Counts what is in flight, and takes a moment for everything."""

    kills = {}
    busy = 0
    moment = 0.1

    @contextlib.asynccontextmanager
    async def place(self):
        self.busy += 1
        try:
            yield self.busy
            await asyncio.sleep(self.moment)
        finally:
            self.busy -= 1

    async def add(self, body):
        async with self.place() as number:
            self.crowded("add", number)
            return await super().add(body)

    async def search(self, body):
        async with self.place() as number:
            self.crowded("search", number)
            return await super().search(body)

    def crowded(self, operation, number):
        """Called with the number of requests in flight, this one included."""


class LosesWhatOverflows(Counted):
    """A bounded queue that drops what does not fit, after the 200."""

    kills = {"load/burst": "a message acknowledged in a burst of 64 connections is lost"}

    def index(self, add):
        if self.busy <= 20:
            super().index(add)


class RefusesForGood(Counted):
    """Too much is answered like a mistake."""

    kills = {
        "load/burst": "with 64 Adds at once, an Add was answered 422, which is never sent again",
    }
    most = 40

    def crowded(self, operation, number):
        if number > self.most:
            raise RefusedError(422, "too many requests")


class FewConnections(Correct):
    """As a short backlog does it: what comes while 32 are open is hung up on."""

    kills = {"load/burst": "simultaneous connections brought no answer"}
    risks = frozenset(kills)

    def uvicorn_settings(self):
        class HangsUp(h11_impl.H11Protocol):
            def connection_made(self, transport):
                super().connection_made(transport)
                if len(self.connections) > 32:
                    transport.abort()

        return {**super().uvicorn_settings(), "http": HangsUp}


class EmptyWhenBusy(Counted):
    """A time-out of the store that is answered as "nothing found"."""

    kills = {"load/declared": "does not find what it found before"}

    def memories_of(self, search):
        return [] if self.busy > 10 else super().memories_of(search)


class AnswersOfOthers(Counted):
    """The Add in hand is a global, read again after the work."""

    kills = {"load/declared": "an Add was answered with the request_id of another"}
    current = None

    async def store(self, add):
        self.current = add
        await asyncio.sleep(0.01)
        await super().store(add)

    def add_reply(self, add):
        return super().add_reply(self.current)


class ForbiddenWhenBusy(RefusesForGood):
    kills = {"load/declared": "which is never sent again, and worked a moment later"}
    most = 16


class CircuitBreaker(Counted):
    """Opens beyond sixteen in flight and does not close again."""

    kills = {"load/declared": "was still 503 after 8 tries"}
    broken = False

    def crowded(self, operation, number):
        self.broken = self.broken or number > 16
        if self.broken:
            raise RefusedError(503, "try again")


class ReadsChangesWrites(Correct):
    """A user's memories are read, extended, and written back."""

    kills = {"load/one-user": "acknowledged beside others of the same user is lost"}

    async def store(self, add):
        before = list(self.memories.get(self.user_key(add.user_id), []))
        await asyncio.sleep(0.02)
        self.memories[self.user_key(add.user_id)] = before
        await super().store(add)


class ForgetsWhatIsPending(Counted):
    """Repeats are recognised once their first is done."""

    kills = {"load/one-user": "the repeat was stored again"}

    async def claim(self, key, add):
        self.pending.pop(key, None)
        claimed = await super().claim(key, add)
        await asyncio.sleep(0.1)
        return claimed


class DatabaseIsLocked(Counted):
    """A second writer fails; it works when it comes again."""

    kills = {"load/parallel-writers": "Adds were answered 500 with no more than 16 in flight"}
    tried = frozenset()

    async def store(self, add):
        if self.busy > 1 and add.request_id not in self.tried:
            self.tried |= {add.request_id}
            raise RefusedError(500, "database is locked")
        await super().store(add)


class SaysNotWhen(Counted):
    """429 without a word about when."""

    kills = {"load/retry-after": "came without Retry-After"}
    wait = None

    def crowded(self, operation, number):
        if number > 16:
            raise RefusedError(429, "too many requests")

    def error(self, status, reason):
        reply = super().error(status, reason)
        if status == 429 and self.wait:
            reply.headers["retry-after"] = self.wait
        return reply


class InAnHour(SaysNotWhen):
    kills = {"load/retry-after": "with Retry-After: 3600"}
    wait = "3600"


class RereadsTheHistory(Correct):
    """What no longer fits the cache is read from the start by each Add."""

    kills = {"load/growth": "it grows slower with the history of a user; Add:"}
    thresholds = {"slow_growth": 0.1}

    async def store(self, add):
        if len(self.memories.get(add.user_id, ())) > 280:
            await asyncio.sleep(0.25)
        await super().store(add)
