"""Search: the user's own memories, most relevant first (clauses S)."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from tests.broken.parts.storing import Storing
from tests.broken.parts.values import Memory, Reply, Search


class Searching(Storing):
    """From the request to the items of the answer."""

    async def search(self, body: bytes) -> Reply:
        """The user's memories, most relevant first."""
        search = self.check_search(self.parse(body))
        self.reach_store()
        mine = self.memories_of(search)
        ranked = self.rank(search, mine) if search.query.strip() else []
        return Reply(200, self.search_reply(search, ranked[: search.top_k]))

    def memories_of(self, search: Search) -> list[Memory]:
        """Everything the user has stored, in order of arrival."""
        return self.memories.get(self.user_key(search.user_id), [])

    def rank(self, search: Search, memories: list[Memory]) -> list[tuple[float, Memory]]:
        """By the share of the words of query and options, then in order of arrival."""
        wanted = self.words("\n".join((search.query, *search.options)))
        most = max(1, len(wanted))
        scored = [(len(wanted & m.words) / most, m) for m in memories]
        return sorted(scored, key=lambda pair: -pair[0])

    def search_reply(self, search: Search, ranked: list[tuple[float, Memory]]) -> Any:
        """The envelope of clause S5."""
        return {"data": [self.item(search, score, memory) for score, memory in ranked]}

    def item(self, search: Search, score: float, memory: Memory) -> dict[str, Any]:
        """One item; what is unknown is left out rather than null (S8, S9)."""
        item = {"id": memory.id, "content": self.content_of(memory), "score": score}
        if (created := self.created_at(memory.message.timestamp)) is not None:
            item["created_at"] = created
        return item

    def content_of(self, memory: Memory) -> str:
        """The text as it was stored (A10)."""
        return memory.message.content

    def created_at(self, timestamp: int | None) -> str | None:
        """Source time in ISO 8601 with an offset; omitted past the year 9999 (A7)."""
        if timestamp is None:
            return None
        try:
            moment = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(milliseconds=timestamp)
        except OverflowError:
            return None
        return moment.isoformat(timespec="milliseconds")
