"""Servers that are wrong about ``top_k`` or about sizes."""

from dataclasses import replace

from tests.broken.correct import Correct, RefusedError


class IgnoresTopK(Correct):
    """Returns 100 items whatever was asked."""

    kills = {"limits/top-k": "top_k was 1, and 40 items came back"}

    def check_top_k(self, top_k):
        super().check_top_k(top_k)
        return 100


class AddsNeighbours(Correct):
    """Cuts to ``top_k``, then puts the turn before and after around each hit."""

    kills = {"limits/top-k": "items came back"}

    def search_reply(self, search, ranked):
        mine = self.memories_of(search)
        around = [
            (score, mine[position])
            for score, memory in ranked
            for position in range(max(0, mine.index(memory) - 1), mine.index(memory) + 2)
            if position < len(mine)
        ]
        return super().search_reply(search, list(dict.fromkeys(around)))


class CapsAtFive(Correct):
    """A constant of an early prototype."""

    kills = {"limits/hidden-cap": "exactly 5 items"}

    def check_top_k(self, top_k):
        return min(5, super().check_top_k(top_k))


class RefusesAboveHundred(Correct):
    kills = {"limits/top-k-large": "top_k 101 was answered 422"}

    def check_top_k(self, top_k):
        if super().check_top_k(top_k) > 100:
            raise RefusedError(422, "top_k must be at most 100")
        return int(top_k)


class RefusesFloats(Correct):
    kills = {"limits/top-k-float": "top_k 87.0 was answered 422"}

    def check_top_k(self, top_k):
        if isinstance(top_k, float):
            raise RefusedError(422, "top_k must be an integer")
        return super().check_top_k(top_k)


class ConvertsTopK(Correct):
    """``int(top_k)``: a text is a number, and null a crash."""

    kills = {"limits/top-k-invalid": "a server error instead of a 4xx for top_k missing (500)"}

    def check_top_k(self, top_k):
        return int(top_k)


class DefaultsTopK(Correct):
    """Whatever is wrong becomes ten."""

    kills = {"limits/top-k-invalid": "accepted as if valid"}

    def check_top_k(self, top_k):
        try:
            return super().check_top_k(top_k)
        except RefusedError:
            return 10


class RefusesFullChunks(Correct):
    """Fewer than twenty where at most twenty was meant."""

    kills = {"limits/message-counts": "exactly 20 messages was answered 422"}

    def check_add(self, body):
        add = super().check_add(body)
        if len(add.messages) >= 20:
            raise RefusedError(422, "too many messages")
        return add


class DropsTheTwentieth(Correct):
    kills = {"limits/message-counts": "message 20 of a chunk of 20"}

    def index(self, add):
        super().index(replace(add, messages=add.messages[:19]))


class RefusesSingleLetters(Correct):
    kills = {"limits/message-counts": "one character was answered 422"}

    def check_content(self, content):
        if isinstance(content, str) and len(content) == 1:
            raise RefusedError(422, "too short")
        return super().check_content(content)


class RefusesHeavyChunks(Correct):
    """An embedder's limit, passed on to the caller."""

    kills = {"limits/heavy-chunk": "20 messages of 8000 characters was answered 413"}

    def check_add(self, body):
        add = super().check_add(body)
        if sum(len(message.content) for message in add.messages) > 100_000:
            raise RefusedError(413, "too much text")
        return add


class CutsAtTenThousand(Correct):
    kills = {"limits/long-message": "the end of a message of 30,000 characters"}

    def check_content(self, content):
        return super().check_content(content)[:10_000]


class LimitsBodies(Correct):
    """The default of many servers."""

    kills = {"limits/large-body": "an Add of 1.5 MiB was answered 413"}

    def max_body(self):
        return 2**20


class RefusesLongQueries(Correct):
    kills = {"limits/long-query": "a query of 20,000 characters was answered 422"}

    def check_search(self, body):
        search = super().check_search(body)
        if len(search.query) > 10_000:
            raise RefusedError(422, "the query is too long")
        return search


class BlindToLongQueries(Correct):
    kills = {"limits/long-query": "finds nothing that its short form finds"}

    def rank(self, search, memories):
        return super().rank(search, memories) if len(search.query) < 10_000 else []
