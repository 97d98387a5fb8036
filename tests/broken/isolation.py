"""Servers that take one user for another: ordinary ids."""

import asyncio
from dataclasses import replace

from tests.broken.correct import Correct


class OneStore(Correct):
    """No boundary at all."""

    kills = {
        "isolation/two-users": "sees a memory of user",
        "isolation/few-memories": "sees a memory of user",
        "isolation/run-names": "sees a memory of user",
    }

    def user_key(self, user_id):
        return ""


class SharedEnrichment(Correct):
    """Background work puts everything together after a while."""

    kills = {"isolation/two-users": "sees a memory of user"}

    def __init__(self, *args, **how):
        super().__init__(*args, **how)
        self.everything = []

    def index(self, add):
        super().index(add)
        mine = self.memories[self.user_key(add.user_id)][-len(add.messages) :]
        asyncio.get_running_loop().call_later(0.15, self.everything.extend, mine)

    def memories_of(self, search):
        return list(dict.fromkeys([*super().memories_of(search), *self.everything]))


class GlobalRequestIds(Correct):
    kills = {"isolation/request-id-shared": "that another user had used before was answered 422"}

    def request_key(self, user_id, request_id):
        return request_id


class SwallowsSharedRequestIds(GlobalRequestIds):
    kills = {"isolation/request-id-shared": "does not find its own memory"}

    def digest(self, add):
        return add.request_id


class UpsertsByRequestId(Correct):
    """Rows are keyed by request and position; the last user wins."""

    kills = {"isolation/request-id-shared": "does not find its own memory"}

    def index(self, add):
        super().index(add)
        rows = {self.memory_id(add, place) for place in range(len(add.messages))}
        for user, memories in self.memories.items():
            if user != self.user_key(add.user_id):
                self.memories[user] = [m for m in memories if m.id not in rows]

    def memory_id(self, add, position):
        return f"{add.request_id}#{position}"


class JoinsWithColon(Correct):
    kills = {"isolation/joined-ids": "was answered 422; user"}
    joint = ":"

    def request_key(self, user_id, request_id):
        return f"{user_id}{self.joint}{request_id}"


class JoinsBare(JoinsWithColon):
    kills = {"isolation/joined-ids": "was answered 422; user"}
    joint = ""


class CacheWithoutUser(Correct):
    """The latest question's answer is kept, for whoever asks."""

    kills = {"isolation/caches": "sees a memory of user"}
    asked = None

    def rank(self, search, memories):
        if self.asked != search.query or not self.answer:
            self.asked, self.answer = search.query, super().rank(search, memories)
        return self.answer


class FirstOwnerKeepsText(Correct):
    """Rows are unique by text."""

    kills = {"isolation/identical-text": "second user to store a text does not find it"}

    def index(self, add):
        known = {m.message.content for mine in self.memories.values() for m in mine}
        kept = tuple(m for m in add.messages if m.content not in known)
        super().index(replace(add, messages=kept))


class LastOwnerKeepsText(Correct):
    kills = {"isolation/identical-text": "first user to store a text no longer finds it"}

    def index(self, add):
        texts = {message.content for message in add.messages}
        for user, mine in self.memories.items():
            self.memories[user] = [m for m in mine if m.message.content not in texts]
        super().index(add)


class SharesEqualTexts(Correct):
    """Whoever has a text sees every row of it."""

    kills = {"isolation/identical-text": "and 2 times once another user had stored it too"}

    def memories_of(self, search):
        mine = super().memories_of(search)
        texts = {memory.message.content for memory in mine}
        return [m for all_ in self.memories.values() for m in all_ if m.message.content in texts]


class CutsRunNames(Correct):
    kills = {"isolation/run-names": "sees a memory of user"}

    def user_key(self, user_id):
        return ":".join(user_id.split(":")[-1:])


class FillsUp(Correct):
    """Few memories are filled up with others', up to fifty."""

    kills = {"isolation/few-memories": "sees a memory of user"}

    def memories_of(self, search):
        mine = super().memories_of(search)
        others = [m for all_ in self.memories.values() for m in all_ if m not in mine]
        return mine + others[: max(0, 50 - len(mine))] if len(mine) == 1 else mine


class CutsBeforeFiltering(Correct):
    """The forty nearest of all users, and of them the user's own."""

    kills = {"isolation/few-memories": "hidden by memories of others"}

    def rank(self, search, memories):
        everybody = [m for all_ in reversed(self.memories.values()) for m in all_]
        nearest = [m for _, m in super().rank(search, everybody)[:30]]
        return [(score, m) for score, m in super().rank(search, memories) if m in nearest]


class CurrentUserIsGlobal(Correct):
    kills = {"isolation/parallel-users": "sees a memory of user"}
    current = ""

    async def search(self, body):
        self.current = self.check_search(self.parse(body)).user_id
        await asyncio.sleep(0.02)
        return await super().search(body)

    def memories_of(self, search):
        return super().memories_of(replace(search, user_id=self.current))


class CurrentUserIsGlobalInAdd(CurrentUserIsGlobal):
    kills = {"isolation/parallel-users": "sees a memory of user"}

    async def search(self, body):
        return await Correct.search(self, body)

    def memories_of(self, search):
        return Correct.memories_of(self, search)

    async def store(self, add):
        self.current = add.user_id
        await asyncio.sleep(0.02)
        self.index(replace(add, user_id=self.current))
