"""Servers that keep up with one writer, or for a moment, and not with a stream."""

import asyncio
import time
from dataclasses import replace

from tests.broken.correct import Correct


class AnswersFromASnapshot(Correct):
    """The index is swapped every fifth Add, whoever made it."""

    kills = {"streaming/interleaved": "was acknowledged but"}
    snapshot: dict = {}
    count = 0

    def index(self, add):
        super().index(add)
        self.count += 1
        if self.count % 5 == 0 or self.count < 2:
            self.snapshot = {user: list(mine) for user, mine in self.memories.items()}

    def memories_of(self, search):
        return self.snapshot.get(search.user_id, [])


class OneConversationAtATime(Correct):
    """The user is a global that an Add sets and reads again after waiting."""

    kills = {
        "streaming/interleaved": "sees a memory of user",
        "isolation/many-at-once": "sees a memory of user",
    }
    current = None

    async def store(self, add):
        self.current = add.user_id
        await asyncio.sleep(0.005)
        await super().store(replace(add, user_id=self.current))


class QueuesUnderLoad(Correct):
    """The index falls behind when more than four Adds are in flight."""

    kills = {"streaming/under-load": "at once while 16 users are served, only seconds later"}
    busy = 0

    async def store(self, add):
        self.busy += 1
        late = self.busy > 4
        await asyncio.sleep(0.05)
        self.busy -= 1
        self.write(add)
        if late:
            asyncio.get_running_loop().call_later(0.15, self.index, add)
        else:
            self.index(add)


class SegmentsLater(Correct):
    """Chinese goes through a segmenter that nobody waits for."""

    kills = {"streaming/cjk": "by Chinese words copied from it, only seconds later"}

    def index(self, add):
        if any("一" <= char <= "鿿" for message in add.messages for char in message.content):
            asyncio.get_running_loop().call_later(0.15, super().index, add)
        else:
            super().index(add)


class SnapshotPerConnection(Correct):
    """A connection sees what was there when it was opened."""

    kills = {"streaming/second-connection": "is not found over another connection"}

    def __init__(self, *args, **how):
        super().__init__(*args, **how)
        self.opened = {}

    async def __call__(self, scope, receive, send):
        if scope["type"] == "http":
            fresh = scope["client"] not in self.opened
            self.opened[scope["client"]] = True
            self.stale = fresh
        await super().__call__(scope, receive, send)

    def memories_of(self, search):
        mine = super().memories_of(search)
        return mine[:-1] if self.stale and len(mine) > 1 else mine


class Consolidates(Correct):
    """When nobody has asked for a while, only a session's newest message is left."""

    kills = {"streaming/after-a-pause": "2 of 3 messages"}
    asked = time.monotonic()

    async def __call__(self, scope, receive, send):
        idle, self.asked = time.monotonic() - self.asked, time.monotonic()
        if idle > 0.25:
            self.background()
        await super().__call__(scope, receive, send)

    def background(self):
        for user, mine in self.memories.items():
            newest = {memory.session_id: memory for memory in mine}
            self.memories[user] = list(newest.values())


class EnrichesEverybody(Consolidates):
    """What users have in common is worked out across them."""

    kills = {"streaming/after-a-pause": "sees a memory of user"}

    def background(self):
        everything = [memory for mine in self.memories.values() for memory in mine]
        self.memories = {user: list(everything) for user in self.memories}


class EmbedsLater(Correct):
    """Words at once, meaning when there is time; only matches come back."""

    kills = {"streaming/paraphrase": "only seconds after their Add was answered"}
    meanings = {"kitten": "pet", "peanuts": "allergy", "sister": "sibling", "tram": "commute"}

    def words(self, text):
        return super().words(text) - {"the", "a", "is", "in", "to", "does", "do", "at"}

    def rank(self, search, memories):
        asked, now, ranked = self.words(search.query), time.monotonic(), []
        for score, memory in super().rank(search, memories):
            known = {self.meanings[word] for word in memory.words & self.meanings.keys()}
            born = self.born.setdefault(memory.id, now)
            meant = len(known & asked) if now - born > 0.1 else 0
            ranked.append((score + meant, memory))
        return sorted((pair for pair in ranked if pair[0]), key=lambda pair: -pair[0])

    def __init__(self, *args, **how):
        self.born = {}
        super().__init__(*args, **how)
