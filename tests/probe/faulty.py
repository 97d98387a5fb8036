"""Memories that are wrong in one way each; their healthy twin is the control ``bm25``."""

import random
from datetime import UTC, datetime

from aml_contract.probe.controls import BM25
from aml_contract.probe.reply import Item


class Drops(BM25):
    """Loses 30 % of Adds."""

    async def add(self, body):
        if random.Random(body["request_id"]).random() >= 0.3:
            await super().add(body)


class Forgets(BM25):
    """Keeps a user's last 30 messages."""

    async def add(self, body):
        await super().add(body)
        del self._kept[body["user_id"]][:-30]

    def _answer(self, user, query, kept):
        self._indexed.clear()  # as long as before, but not the same
        return super()._answer(user, query, kept)


class IndexesLate(BM25):
    """Makes an Add findable when twelve more have come."""

    def __init__(self, world):
        super().__init__(world)
        self._waiting = {}

    async def add(self, body):
        waiting = self._waiting.setdefault(body["user_id"], [])
        waiting.append(body)
        if len(waiting) > 12:
            await super().add(waiting.pop(0))


class Shares(BM25):
    """Has one store for all users."""

    async def add(self, body):
        await super().add({**body, "user_id": "all"})

    async def search(self, body):
        return await super().search({**body, "user_id": "all"})


class Trims(BM25):
    """Keeps the first 60 characters of a message."""

    async def add(self, body):
        trimmed = [{**each, "content": each["content"][:60]} for each in body["messages"]]
        await super().add({**body, "messages": trimmed})


class IngestionTime(BM25):
    """Gives the time at which a message came for the one at which it was said."""

    async def add(self, body):
        now = datetime.now(UTC).timestamp() * 1000
        await super().add(
            {**body, "messages": [{**each, "timestamp": now} for each in body["messages"]]}
        )


class Folds(BM25):
    """Takes a message for a repeat if an earlier one has two thirds of its words."""

    async def add(self, body):
        kept = [set(item.content.split()) for item in self._kept[body["user_id"]]]

        def is_new(message):
            words = set(message["content"].split())
            return all(3 * len(words & earlier) < 2 * len(words) for earlier in kept)

        new = [message for message in body["messages"] if is_new(message)]
        await super().add({**body, "messages": new})


class Summarises(BM25):
    """Puts first a summary of a user's first sixty messages, as if it had been made just now."""

    def _answer(self, user, query, kept):
        summary = " ".join(item.content for item in kept[:60])
        return [Item(summary, kept[-1].created), *super()._answer(user, query, kept)]
