"""Servers that are right for two users and wrong for many, or for odd bodies."""

import json
import math
from collections import Counter

from tests.broken.correct import Correct, RefusedError


class CutsBeforeItFilters(Correct):
    """The nearest 100 of everybody, then those of the user."""

    kills = {"isolation/crowding-out": "is not found with top_k 100 after"}

    def memories_of(self, search):
        everything = [(user, memory) for user, mine in self.memories.items() for memory in mine]
        wanted = self.words(search.query)
        everything.sort(key=lambda pair: -len(wanted & pair[1].words))
        return [memory for user, memory in everything[:100] if user == search.user_id]


class CountsWordsOfEverybody(Correct):
    """One BM25 over all users."""

    kills = {"isolation/others-change-nothing": "changed the order of a user's results"}

    def rank(self, search, memories):
        everything = [memory for mine in self.memories.values() for memory in mine]
        count = Counter(word for memory in everything for word in memory.words)
        wanted = self.words(search.query)

        def score(memory):
            return sum(math.log(1 + len(everything) / count[w]) for w in wanted & memory.words)

        return sorted(((score(m), m) for m in memories), key=lambda pair: -pair[0])


class ScalesByTheBest(Correct):
    """Scores relative to the best hit of anybody."""

    kills = {"isolation/others-change-nothing": "changed the scores of a user's results"}

    def rank(self, search, memories):
        size = sum(map(len, self.memories.values()))
        return [(score / (1 + size), m) for score, m in super().rank(search, memories)]


class FillsUpWithOthers(Correct):
    """Too few of one's own: the rest comes from whoever said something like it."""

    kills = {"isolation/others-change-nothing": "changed which results a user gets"}

    def memories_of(self, search):
        mine = super().memories_of(search)
        wanted = self.words(search.query)
        near = [m for ms in self.memories.values() for m in ms if len(wanted & m.words) > 2]
        return mine + [memory for memory in near if memory not in mine]


class _Both(dict):
    """A JSON object that remembers all values of a key."""

    def __init__(self, pairs):
        super().__init__(pairs)
        self.users = [value for name, value in pairs if name == "user_id"]


class StoresForBoth(Correct):
    kills = {"isolation/duplicate-keys": "is read by both of them"}

    def parse(self, body):
        try:
            self.parsed = json.loads(body, object_pairs_hook=_Both)
        except ValueError:
            raise RefusedError(400, "no JSON") from None
        return self.parsed

    def index(self, add):
        users = self.parsed.users if self.pending else [add.user_id]
        for user in users:
            super().index(type(add)(add.request_id, user, add.session_id, add.messages))


class SearchesForBoth(Correct):
    kills = {"isolation/duplicate-keys": "sees the memories of both"}
    parse = StoresForBoth.parse

    def memories_of(self, search):
        return [m for user in self.parsed.users for m in self.memories.get(user, [])]


class NoneIsAName(Correct):
    """Ids of an Add are turned into text, whatever they were."""

    kills = {"isolation/coerced-adds": 'is read by the user named "None"'}

    def check_add(self, body):
        fields = dict(self.object(body, "body"))
        return super().check_add({**fields, "user_id": str(fields.get("user_id"))})
