"""Servers that answer wrongly while their store fails, or do not get over it."""

import asyncio
import math
from dataclasses import replace

from tests.broken.correct import Correct, RefusedError
from tests.broken.streaming import EmbedsLater


class AcknowledgesUnstored(Correct):
    """Success first, the store some day."""

    kills = {"errors/store-fault-add": "its message is not found after the fault was healed"}

    async def store(self, add):
        try:
            await super().store(add)
        except RefusedError:
            return


class BlamesTheClient(Correct):
    """Whatever goes wrong is the request's fault."""

    kills = {
        "errors/store-fault-add": "an Add was answered 422, which the platform never sends again",
        "errors/store-fault-search": "a Search was answered 422, which the platform never",
    }

    def reach_store(self):
        try:
            super().reach_store()
        except RefusedError as refused:
            raise RefusedError(422, refused.reason) from None


class ForgetsWhenItFails(Correct):
    """Opens a new store where the old one cannot be reached."""

    kills = {"errors/store-fault-search": "was found before the fault is gone after it was healed"}

    def reach_store(self):
        try:
            super().reach_store()
        except RefusedError:
            self.memories.clear()
            raise


class FindsNothingWhenItFails(Correct):
    kills = {"errors/store-fault-empty": "was answered 200 with an empty list"}

    def memories_of(self, search):
        return [] if self.failing else super().memories_of(search)

    def reach_store(self):
        self.failing = False
        try:
            super().reach_store()
        except RefusedError:
            self.failing = True

    async def store(self, add):
        self.reach_store()
        if self.failing:
            raise RefusedError(503, "storage failed; try again")
        await super().store(add)


class MarksFailedAddsDone(Correct):
    """What a user's last success says of all that came before."""

    kills = {"repeats/after-failure": "a message of it is not found"}

    def __init__(self, *given, **settings):
        self.begun = {}
        super().__init__(*given, **settings)

    async def store(self, add):
        mine = self.begun.setdefault(add.user_id, {})
        mine[self.request_key(add.user_id, add.request_id)] = self.digest(add)
        await super().store(add)
        self.done |= mine


class StoresThenFails(Correct):
    """The write reaches the disk, its confirmation does not come back; the repeat writes again."""

    kills = {"repeats/after-failure": "comes back 2 times instead of 1"}

    async def store(self, add):
        self.write(add)
        self.index(add)
        self.reach_store()


class StoresHalf(Correct):
    """Message by message, each in a transaction of its own."""

    kills = {"repeats/after-failure-no-half": "and a part of it is visible"}

    async def store(self, add):
        for message in add.messages:
            await super().store(replace(add, messages=(message,)))
            await asyncio.sleep(0.02)

    def memory_id(self, add, position):
        return super().memory_id(add, add.messages[position].content)


class DoublesWhatFailed(StoresThenFails):
    """The same after a whole chunk."""

    kills = {"repeats/after-failure-no-half": "comes back 2 times instead of 1"}


class FallsBackToWords(EmbedsLater):
    """While the embedder is down, words alone are indexed, and nobody comes back to the rest."""

    kills = {"errors/store-fault-meaning": "4 of 4 facts whose Add was answered 200"}
    failing = False

    def reach_store(self):
        self.failing = False
        try:
            super().reach_store()
        except RefusedError:
            self.failing = True

    def index(self, add):
        super().index(add)
        when = math.inf if self.failing else -math.inf
        mine = self.memories[self.user_key(add.user_id)]
        self.born.update((memory.id, when) for memory in mine[-len(add.messages) :])
