"""Servers that lose or double what was acknowledged, when something happens."""

import asyncio
import json
import os
import uuid
from contextvars import ContextVar
from dataclasses import asdict, replace

from tests.broken.correct import Add, Correct, Message, RefusedError


class InMemory(Correct):
    kills = {"durability/restart": "a message that was found before the restart is gone after it"}

    def open_journal(self, data):
        """Keep nothing."""


class FlushesLater(Correct):
    """Writes when it is idle, and when it is stopped politely."""

    kills = {"durability/kill-after-ack": "on the next start its message is gone"}

    def __init__(self, *given, **settings):
        self.unwritten = []
        super().__init__(*given, **settings)

    def write(self, add):
        self.unwritten.append(add)
        asyncio.get_running_loop().call_later(5, self.flush)

    def flush(self):
        for add in self.unwritten:
            super().write(add)
        self.unwritten.clear()

    async def lifespan(self, receive, send):
        await super().lifespan(receive, send)
        self.flush()


class WritesMessageByMessage(Correct):
    """A chunk is several writes, and done with the last; a crash leaves the first ones."""

    kills = {"durability/kill-during-add": "comes back 2 times instead of 1"}

    async def store(self, add):
        for position, message in enumerate(add.messages):
            last = position == len(add.messages) - 1
            self.write_line({**asdict(add), "messages": [asdict(message)], "done": last})
            await asyncio.sleep(0.02)
        self.index(add)

    def write_line(self, line):
        os.write(self.journal, json.dumps(line).encode() + b"\n")

    def memory_id(self, add, position):
        return uuid.uuid4().hex

    def load(self, lines):
        for line in lines:
            done = line.pop("done")
            messages = tuple(Message(**message) for message in line.pop("messages"))
            add = Add(**line, messages=messages)
            self.index(add)
            if done:
                self.done[self.request_key(add.user_id, add.request_id)] = ""

    def digest(self, add):
        return ""


class ClaimsFirst(Correct):
    """The request is marked done before its messages are written."""

    kills = {"durability/kill-during-add": "a message of it is not found"}

    async def store(self, add):
        self.write(replace(add, messages=()))
        self.done[self.request_key(add.user_id, add.request_id)] = ""
        await asyncio.sleep(0.4)
        self.write(add)
        self.index(add)

    def digest(self, add):
        return ""


class MakesRoomFirst(Correct):
    """Whatever it has of a request is removed before that request is stored, again or not."""

    kills = {"durability/kill-during-repeat": "on the next start a message of it is gone"}

    async def claim(self, key, add):
        return True

    async def store(self, add):
        key = self.request_key(add.user_id, add.request_id)
        if self.done.pop(key, None) is not None:
            self.write(replace(add, messages=()))
        await asyncio.sleep(0.3)
        await super().store(add)

    def index(self, add):
        user = self.user_key(add.user_id)
        mine = {self.memory_id(add, position) for position in range(20)}
        self.memories[user] = [m for m in self.memories.get(user, []) if m.id not in mine]
        super().index(add)


class StaleLock(Correct):
    """A lock file, removed by an orderly stop only, keeps the next start from writing."""

    kills = {"durability/works-after-kill": "an Add was answered 503"}

    def open_journal(self, data):
        super().open_journal(data)
        self.lock = data / "writing.lock"
        self.stale = self.lock.exists()
        self.lock.touch()

    async def lifespan(self, receive, send):
        await super().lifespan(receive, send)
        self.lock.unlink(missing_ok=True)

    async def store(self, add):
        if self.stale:
            raise RefusedError(503, "another process is writing")
        await super().store(add)


class RefusesToStart(StaleLock):
    """The same, found out at the start."""

    kills = {"durability/works-after-kill": "it did not start again on its data"}

    def open_journal(self, data):
        super().open_journal(data)
        if self.stale:
            raise SystemExit("the store is locked by another process")


class RenamesOnStart(Correct):
    kills = {"durability/order-over-restart": "changed its id over a restart"}

    def __init__(self, *given, **settings):
        self.epoch = uuid.uuid4().hex
        super().__init__(*given, **settings)

    def memory_id(self, add, position):
        return f"{self.epoch}-{super().memory_id(add, position)}"


class ReordersOnStart(Correct):
    kills = {"durability/order-over-restart": "gives another order of results after a restart"}

    def load(self, lines):
        super().load(lines)
        for mine in self.memories.values():
            mine.reverse()


class ForgetsTheAbsent(Correct):
    """Stores, then finds that nobody is listening, and does not remember the request."""

    kills = {"durability/client-abort": "comes back 2 times instead of 1"}

    receiving = ContextVar("receiving")  # of its own request, whatever else is served

    async def __call__(self, scope, receive, send):
        self.receiving.set(receive)
        await super().__call__(scope, receive, send)

    async def store(self, add):
        receive = self.receiving.get()
        await super().store(add)
        try:
            async with asyncio.timeout(0.05):
                await receive()
        except TimeoutError:
            return
        raise RefusedError(400, "the client has gone")
