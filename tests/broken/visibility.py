"""Servers that acknowledge what is not there, or not for long."""

import asyncio
import re
import time
from dataclasses import replace

from tests.broken.correct import Correct, RefusedError, Reply


class IndexesLater(Correct):
    """200 first, the index when there is time."""

    kills = {"visibility/immediate": "only seconds later"}

    def index(self, add):
        if self.pending:
            asyncio.get_running_loop().call_later(0.15, super().index, add)
        else:
            super().index(add)


class LosesSome(Correct):
    kills = {"visibility/immediate": "is not found, at once or later"}
    count = 0

    def index(self, add):
        self.count += 1
        if self.count % 7:
            super().index(add)


class Threshold(Correct):
    """Nothing is similar enough."""

    kills = {"visibility/immediate": "is not found, at once or later"}

    def rank(self, search, memories):
        return [(score, m) for score, m in super().rank(search, memories) if score > 0.95]


class KeepsTheFirstTen(Correct):
    kills = {"visibility/every-message": "number 11, 12"}

    async def store(self, add):
        await super().store(replace(add, messages=add.messages[:10]))


class DropsTheLast(Correct):
    kills = {"visibility/every-message": "1 of 20 messages of one chunk are not found: number 20"}

    async def store(self, add):
        kept = add.messages[:-1] if len(add.messages) > 1 else add.messages
        await super().store(replace(add, messages=kept))


class SpacesOnly(Correct):
    """A tokenizer made for spaces, and only what matches."""

    kills = {"visibility/cjk": "a Chinese message is not found"}

    def words(self, text):
        return frozenset(re.findall(r"\w+", text.casefold()))

    def rank(self, search, memories):
        return [(score, m) for score, m in super().rank(search, memories) if score]


class LatinOnly(SpacesOnly):
    kills = {"visibility/cjk": "a Chinese message is not found"}

    def words(self, text):
        return frozenset(re.findall(r"[a-z0-9]+", text.casefold()))


class PerConnection(Correct):
    """What a connection adds, only it sees: a transaction never committed."""

    kills = {"visibility/second-connection": "but not over a new one"}
    connection = None

    async def __call__(self, scope, receive, send):
        if scope["type"] == "http":
            token = scope["client"]

            async def tagged():
                event = await receive()
                self.connection = token
                return event

            await super().__call__(scope, tagged, send)
        else:
            await super().__call__(scope, receive, send)

    def user_key(self, user_id):
        return f"{self.connection} {user_id}"


class SessionFilter(Correct):
    """Search looks into the latest session alone."""

    kills = {"visibility/across-sessions": "of session 1, of 3, is not found"}

    def memories_of(self, search):
        mine = super().memories_of(search)
        return [memory for memory in mine if memory.session_id == mine[-1].session_id]


class DemandsSession(Correct):
    kills = {"structure/legal-requests": "Search requests were answered 422"}

    def check_search(self, body):
        if "session_id" not in self.object(body, "body"):
            raise RefusedError(422, "session_id is required")
        return super().check_search(body)


class UserTurnsOnly(Correct):
    kills = {"visibility/assistant-role": "a message of the role assistant"}

    async def store(self, add):
        kept = tuple(message for message in add.messages if message.role != "assistant")
        await super().store(replace(add, messages=kept))


class StaleAnswers(Correct):
    """Answers are kept by user and question, whatever is added."""

    kills = {"visibility/growing": "what the last Add, number 1, stored"}

    def __init__(self, *args, **how):
        super().__init__(*args, **how)
        self.answers = {}

    async def search(self, body):
        key = bytes(body)
        if key not in self.answers:
            self.answers[key] = await super().search(body)
        return self.answers[key]


class KeepsTheLatest(Correct):
    """Each Add replaces what the user had."""

    kills = {"visibility/growing": "what the earlier Add, number 1, stored"}

    def index(self, add):
        self.memories.pop(self.user_key(add.user_id), None)
        super().index(add)


class EnforcesOrder(Correct):
    kills = {"visibility/out-of-order": "an earlier chunk that came after a later one was answered"}

    def __init__(self, *args, **how):
        super().__init__(*args, **how)
        self.latest = {}

    def check_add(self, body):
        add = super().check_add(body)
        newest = max(message.timestamp or 0 for message in add.messages)
        if newest < self.latest.get(add.session_id, 0):
            raise RefusedError(422, "older than what is stored")
        self.latest[add.session_id] = newest
        return add


class DropsLateChunks(Correct):
    kills = {"visibility/out-of-order": "the earlier of two chunks"}

    def index(self, add):
        mine = self.memories.get(self.user_key(add.user_id), [])
        newest = max((memory.message.timestamp or 0 for memory in mine), default=0)
        if max(message.timestamp or 0 for message in add.messages) >= newest:
            super().index(add)


class Expires(Correct):
    """A time to live that begins with the third reading."""

    kills = {"visibility/late": "message 1, found at first, is found no longer"}

    def __init__(self, *args, **how):
        super().__init__(*args, **how)
        self.read = {}

    def memories_of(self, search):
        mine, now = super().memories_of(search), time.monotonic()
        read = self.read.setdefault(search.user_id, [])
        if len(read) >= 3 and now - read[2] > 0.1:
            return []
        read.append(now)
        return mine


class AnswersFirst(Correct):
    """A queue in front of the store."""

    kills = {"visibility/immediate": "only seconds later"}

    async def add(self, body):
        add = self.check_add(self.parse(body))
        task = asyncio.create_task(self.work(body))
        task.add_done_callback(lambda done: done.exception())
        return Reply(200, self.add_reply(add))

    async def work(self, body):
        await asyncio.sleep(0.15)
        await super().add(body)
