"""Servers that store a repeat, or refuse one, or take too much for one."""

import asyncio
import hashlib
import json
from dataclasses import replace

from tests.broken.correct import Correct, RefusedError, Reply


class StoresEveryTime(Correct):
    kills = {
        "repeats/again": "the repeat was stored again",
        "repeats/concurrent": "the repeat was stored again",
    }
    count = 0

    async def claim(self, key, add):
        return True

    def memory_id(self, add, position):
        self.count += 1
        return f"{super().memory_id(add, position)}-{self.count}"


class RefusesRepeats(Correct):
    kills = {"repeats/again": "the same Add sent again was answered 409"}
    status = 409

    async def claim(self, key, add):
        if key in self.done:
            raise RefusedError(self.status, "already stored")
        return await super().claim(key, add)


class RefusesRepeatsForGood(RefusesRepeats):
    kills = {"repeats/again": "the same Add sent again was answered 422"}
    status = 422


class RepeatIsNoSuccess(Correct):
    kills = {"repeats/again": "success in the answer to the repeat differs"}

    async def add(self, body):
        add = self.check_add(self.parse(body))
        known = self.request_key(add.user_id, add.request_id) in self.done
        reply = await super().add(body)
        return replace(reply, body={**reply.body, "success": not known})


class AppendsToTheSession(Correct):
    """Repeats grow the item instead of adding one: unique ids prove nothing."""

    kills = {"repeats/again": "the message was there once, and is now there"}

    async def claim(self, key, add):
        return True

    def index(self, add):
        mine = self.memories.setdefault(self.user_key(add.user_id), [])
        text = "\n".join(message.content for message in add.messages)
        for place, memory in enumerate(mine):
            if memory.session_id == add.session_id:
                text = f"{memory.message.content}\n{text}"
                grown = replace(memory.message, content=text)
                mine[place] = replace(memory, message=grown, words=self.words(text))
                return
        super().index(replace(add, messages=(replace(add.messages[0], content=text),)))


class ClaimsLate(Correct):
    """Looks first, works, then remembers: eight at once all look in time."""

    kills = {"repeats/concurrent": "the repeat was stored again"}

    async def claim(self, key, add):
        if key in self.done:
            return False
        await asyncio.sleep(0.05)
        return True


class RefusesWhileInFlight(Correct):
    kills = {"repeats/concurrent": "identical Adds at once was answered 422"}

    async def claim(self, key, add):
        if key in self.pending:
            raise RefusedError(422, "already being processed")
        return await super().claim(key, add)

    async def store(self, add):
        await asyncio.sleep(0.1)
        await super().store(add)


class SaysYesToTheSecond(Correct):
    """A repeat is answered while the first is still at work."""

    kills = {"repeats/concurrent-visible": "the Search right after does not find the message"}

    async def claim(self, key, add):
        if key in self.pending:
            return False
        return await super().claim(key, add)

    async def store(self, add):
        await asyncio.sleep(0.3)
        await super().store(add)

    def release(self, key):
        if self.pending.get(key) and key in self.done:
            super().release(key)


class HashesBytes(Correct):
    """The base of those that compare more than the known fields."""

    kills = {"repeats/reordered-keys": "with its keys in another order was answered 422"}

    async def add(self, body):
        self.raw = self.essence(body)
        return await super().add(body)

    def essence(self, body):
        return body

    def digest(self, add):
        return hashlib.sha256(self.raw).hexdigest()

    def load(self, lines):
        self.raw = b""
        super().load(lines)


class HashesNumbers(HashesBytes):
    kills = {"repeats/number-form": "with its timestamp written as a float was answered 422"}

    def essence(self, body):
        return json.dumps(json.loads(body), sort_keys=True).encode()


class HashesUnknownKeys(HashesNumbers):
    kills = {"repeats/unknown-keys": "with unknown keys beside it was answered 422"}


class KeysByBody(HashesBytes):
    """The digest is the key: what looks different is stored again."""

    kills = {
        "repeats/reordered-keys": "the repeat was stored again",
        "repeats/unknown-keys": "the repeat was stored again",
        "repeats/number-form": "the repeat was stored again",
    }

    def request_key(self, user_id, request_id):
        return (user_id, request_id, self.raw)


class RemembersInMemory(Correct):
    """The data is on disk, the handled requests are not."""

    kills = {
        "repeats/after-restart": "the repeat was stored again",
        "repeats/after-kill": "the repeat was stored again",
    }

    def load(self, lines):
        super().load(lines)
        self.done.clear()


class RefusesAfterRestart(Correct):
    kills = {"repeats/after-restart": "an Add sent again after a restart was answered 422"}

    def load(self, lines):
        super().load(lines)
        self.done = dict.fromkeys(self.done, "")


class RemembersAtTheEnd(Correct):
    """Handled requests are written when the server stops."""

    kills = {"repeats/after-kill": "the repeat was stored again"}

    def open_journal(self, data):
        self.note = data / "handled"
        super().open_journal(data)
        if not self.note.exists():
            self.done.clear()

    async def lifespan(self, receive, send):
        self.note.unlink(missing_ok=True)
        await super().lifespan(receive, send)
        self.note.touch()


class Overwrites(Correct):
    """An upsert by request_id."""

    kills = {"repeats/first-write-stays": "is gone after another body came"}

    async def claim(self, key, add):
        return self.done.get(key) != self.digest(add)

    def index(self, add):
        mine = self.memories.setdefault(self.user_key(add.user_id), [])
        rows = {self.memory_id(add, place) for place in range(len(add.messages))}
        mine[:] = [memory for memory in mine if memory.id not in rows]
        super().index(add)


class StoresTheConflictToo(Correct):
    kills = {"repeats/first-write-stays": "was refused with 422, yet its message is found"}

    async def claim(self, key, add):
        if key in self.done and self.done[key] != self.digest(add):
            self.index(replace(add, request_id=f"{add.request_id} again"))
        return await super().claim(key, add)


class StoresBoth(Correct):
    kills = {"repeats/conflicting-body": "was answered 200 and stored"}

    def request_key(self, user_id, request_id):
        return (user_id, request_id, self.body)

    def memory_id(self, add, position):
        return super().memory_id(replace(add, request_id=str(add)), position)

    async def add(self, body):
        self.body = body
        return await super().add(body)


class FirstBodyWins(Correct):
    """Readers disagree about it: a warning."""

    kills = {"repeats/conflicting-body": "its text is lost in silence"}

    def digest(self, add):
        return add.request_id


class ConflictIs409(Correct):
    kills = {"repeats/conflicting-body": "was answered 409, which the platform sends again"}

    async def add(self, body):
        try:
            return await super().add(body)
        except RefusedError as refused:
            status = 409 if "another body" in refused.reason else refused.status
            return self.error(status, refused.reason)


class ConflictCrashes(Correct):
    kills = {"repeats/conflicting-body": "was answered 500, which the platform sends again"}

    async def add(self, body):
        try:
            return await super().add(body)
        except RefusedError:
            return Reply(500, {"detail": {"reason": "UNIQUE constraint failed"}})


class FoldsEqualTexts(Correct):
    """A sentence said twice is noise."""

    kills = {"repeats/same-text": "is not found at all"}

    def memories_of(self, search):
        mine = super().memories_of(search)
        texts = [memory.message.content for memory in mine]
        return [m for m in mine if texts.count(m.message.content) == 1]
