"""Small memories whose ranking is known, each wrong or right in its own way."""

import random
import re
from datetime import UTC, datetime

from tests.smoke.memory import Memory


class Ranked(Memory):
    """Most common words first, among equals the latest."""

    def on_add(self, body):
        if not body.get("messages"):
            return 422, {"detail": {"reason": "messages must not be empty"}}
        self.stored[body["user_id"]].extend(body["messages"])
        ids = {key: body[key] for key in ("request_id", "user_id", "session_id")}
        return 200, {"success": True, **ids}

    def on_search(self, body):
        if not body.get("query") or not body.get("top_k"):
            return 422, {"detail": {"reason": "query and top_k must not be empty"}}
        stored = self.stored[body["user_id"]]
        wanted = words(body["query"])
        scored = [(self.score(wanted & words(m["content"])), n) for n, m in enumerate(stored)]
        best = self.ordered(scored)[: body["top_k"]]
        return 200, {"data": [self.item(stored[n], n, score) for score, n in best]}

    def score(self, common):
        return sum(map(len, common))

    def ordered(self, scored):
        return sorted(scored, reverse=True)

    def item(self, message, number, score):
        said = datetime.fromtimestamp(message.get("timestamp", 0) / 1000, UTC)
        return {
            "id": f"m-{number}",
            "content": message["content"],
            "score": round(score, 3),
            "created_at": said.isoformat(),
        }

    def handle_error(self, *_):
        """A body that is no JSON ends the connection."""


class Reweighted(Ranked):
    """Another constant: a new version."""

    def score(self, common):
        return sum(len(word) ** 3 for word in common)


class Framed(Ranked):
    """A role in front of each text: a new version too."""

    def item(self, message, number, score):
        return {**super().item(message, number, score), "content": f"user: {message['content']}"}


class Dateless(Ranked):
    """No created_at any more: a new version."""

    def item(self, message, number, score):
        made = super().item(message, number, score)
        del made["created_at"]
        return made


class Newer(Ranked):
    """Ranks alike, and answers errors otherwise."""

    def on_search(self, body):
        status, answer = super().on_search(body)
        return (400, {"error": "no"}) if status == 422 else (status, answer)


class Dated(Ranked):
    """Shows when it was asked, and by whom: other words each day, the same version."""

    day = "Monday, 30 November 2026"

    def on_search(self, body):
        status, answer = super().on_search(body)
        for item in answer.get("data", ()):
            item["content"] = f"[{self.day}, {body['user_id']}] {item['content']}"
        return status, answer


class Shuffled(Ranked):
    """Ranks at random, and shows no scores."""

    def ordered(self, scored):
        return random.sample(scored, len(scored))

    def item(self, message, number, score):
        made = super().item(message, number, score)
        del made["score"]
        return made


class Swapping(Shuffled):
    """Ranks, but swaps the first two of every sixth answer or so."""

    def ordered(self, scored):
        first, second, *rest = Ranked.ordered(self, scored)
        return [second, first, *rest] if random.random() < 1 / 6 else [first, second, *rest]


class Crowded(Ranked):
    """Weighs words by how rare they are among all users, against S15."""

    def score(self, common):
        everything = [words(message["content"]) for own in self.stored.values() for message in own]
        return sum(1 / sum(word in text for text in everything) for word in common)


class Rewriting(Ranked):
    """Keeps the longest words alone, the same ones each time."""

    def item(self, message, number, score):
        kept = sorted(words(message["content"]), key=lambda word: (-len(word), word))[:4]
        return {**super().item(message, number, score), "content": " ".join(kept) or "?"}


class Refusing(Ranked):
    """Takes no Add at all."""

    def on_add(self, body):
        return 422, {"detail": {"reason": "no"}}


def words(text):
    return set(re.findall(r"[\u4e00-\u9fff]|[^\W\u4e00-\u9fff]+", text.lower()))
