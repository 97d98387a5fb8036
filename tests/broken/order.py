"""Servers that are wrong about ranking, scores or ids."""

import json
import random
import uuid

from tests.broken.correct import Correct


class ScoresNaN(Correct):
    """Divides by the norm of a query without words."""

    kills = {"order/scores-finite": "a score is nan, not finite"}

    def encode(self, body):
        return body if isinstance(body, bytes) else json.dumps(body).encode()

    def item(self, search, score, memory):
        if not self.words(search.query):
            score = float("nan")
        return super().item(search, score, memory)


class ScoresInfinity(Correct):
    """One over the distance, and the distance of a copy is zero."""

    kills = {"order/scores-finite": "a score is inf, not finite"}

    def encode(self, body):
        return body if isinstance(body, bytes) else json.dumps(body).encode()

    def item(self, search, score, memory):
        copy = search.query == memory.message.content
        return super().item(search, float("inf") if copy else score, memory)


class ScoresText(Correct):
    kills = {"order/scores-finite": "not a number"}

    def item(self, search, score, memory):
        return super().item(search, f"{score:.3f}", memory)


class ScoresNull(Correct):
    kills = {"order/scores-finite": "a score is null"}
    risks = frozenset({"order/scores-finite"})

    def item(self, search, score, memory):
        return super().item(search, None, memory)


class ShowsDistances(Correct):
    """The list is right, its numbers are distances."""

    kills = {"order/scores-fall": "scores rise down the list"}

    def item(self, search, score, memory):
        return super().item(search, 1 - score, memory)


class Shuffles(Correct):
    kills = {"order/stable": "another order of results"}

    def rank(self, search, memories):
        ranked = super().rank(search, memories)
        random.shuffle(ranked)
        return ranked


class RanksByTopK(Correct):
    """Another strategy for small lists."""

    kills = {"order/prefix": "are not the first 3 of top_k 10"}

    def rank(self, search, memories):
        ranked = super().rank(search, memories)
        return ranked[::-1] if search.top_k < 5 else ranked


class RandomIds(Correct):
    kills = {"order/ids-stable": "changed its id when the Search was repeated"}

    def item(self, search, score, memory):
        return super().item(search, score, memory) | {"id": uuid.uuid4().hex}


class CountsIds(Correct):
    """An id is the distance from the newest memory."""

    kills = {"order/ids-stable": "changed its id after a later Add"}

    def item(self, search, score, memory):
        mine = self.memories_of(search)
        number = len(mine) - mine.index(memory)
        return super().item(search, score, memory) | {"id": f"memory-{number}"}


class WorstFirst(Correct):
    kills = {"order/exact-first": "comes back in place 5 of 5"}

    def rank(self, search, memories):
        return super().rank(search, memories)[::-1]
