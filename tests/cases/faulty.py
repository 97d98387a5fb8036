"""Memories around hybrid whose parts fail as a case says, in its own words.

The server sets ``fault`` before a step and takes it away after it.
"""

import json

from aml_adapters.hybrid import HybridMemory
from aml_sdk import Memory, MemorySystem, SearchRequest
from aml_sdk.content import text_of
from aml_sdk.errors import Unavailable


class Faulty(MemorySystem):
    """Hybrid, with something in front that may fail."""

    def __init__(self, data_dir):
        self.inner = HybridMemory(data_dir)
        self.fault = None

    def add(self, request):
        self.inner.add(request)

    def search(self, request):
        return self.inner.search(request)

    def discard(self, user_id, request_id):
        self.inner.discard(user_id, request_id)

    def close(self):
        self.inner.close()


class Extracts(Faulty):
    """Keeps the message, then what a model makes of it, whose reply may be no JSON."""

    def add(self, request):
        super().add(request)
        reply = (self.fault or '{"memory": []}').partition("replies: ")[2] or self.fault
        json.loads(reply)


class RecordByRecord(Faulty):
    """Each message is a record of its own, and the backend rejects the second once."""

    def __init__(self, data_dir):
        super().__init__(data_dir)
        self.left_behind = []
        """What was visible before each Add."""

    def add(self, request):
        query = SearchRequest(query="anything", user_id=request.user_id, top_k=100)
        self.left_behind.append(len(self.inner.search(query)))
        for position, message in enumerate(request.messages):
            if self.fault and position == 1:
                raise RuntimeError(self.fault)
            one = request.model_copy(
                update={"request_id": f"{request.request_id}#{position}", "messages": [message]}
            )
            super().add(one)

    def discard(self, user_id, request_id):
        for position in range(2):
            super().discard(user_id, f"{request_id}#{position}")


class EmbedsElsewhere(Faulty):
    """The provider of its vectors may be away."""

    def _embed(self):
        if self.fault:
            raise Unavailable("the embedding provider does not answer")

    def add(self, request):
        self._embed()
        super().add(request)

    def search(self, request):
        self._embed()
        return super().search(request)


class ScoresStrangely(Faulty):
    """The backend's score is no number that JSON knows."""

    def search(self, request):
        score = {"+inf": float("inf"), "NaN": float("nan")}
        given = next((value for name, value in score.items() if name in (self.fault or "")), 1.0)
        return [
            Memory.model_construct(id=one.id, content=text_of(one.content), score=given)
            for one in super().search(request)
        ]


SYSTEMS = {
    "B13": Extracts,
    "B14": RecordByRecord,
    "B15": EmbedsElsewhere,
    "B24": EmbedsElsewhere,
    "B26": ScoresStrangely,
}
