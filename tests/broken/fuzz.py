"""Servers with faults that show only in requests and histories that nobody writes by hand."""

from dataclasses import replace

from tests.broken.correct import Correct, Reply

IDS = ("request_id", "user_id", "session_id")


class NumbersInCircles(Correct):
    """A table of look-alikes that somebody wrote for names."""

    kills = {"fuzz/history": "sees a memory of user"}
    thresholds = {"fuzz_budget": 40}

    def user_key(self, user_id):
        return user_id.replace("①", "1")


class CachesReplies(Correct):
    """An answer that was given is given again, whoever asks."""

    kills = {"fuzz/history": "came back as"}
    thresholds = {"fuzz_budget": 40}

    def __init__(self, *args, **how):
        super().__init__(*args, **how)
        self.replies = {}

    def add_reply(self, add):
        return self.replies.setdefault((add.request_id, add.session_id), super().add_reply(add))


class RepeatsCleanUp(Correct):
    """A repeat removes what came last: as a rule its own half-written rows."""

    kills = {"fuzz/history": "does not find its own memory"}
    thresholds = {"fuzz_budget": 40}
    last = None

    def index(self, add):
        super().index(add)
        self.last = self.user_key(add.user_id)

    async def claim(self, key, add):
        new = await super().claim(key, add)
        if not new and self.last not in (None, self.user_key(add.user_id)):
            self.memories[self.last] = self.memories[self.last][:-1]
        return new


class ChokesOnRoles(Correct):
    """An enumeration of roles, kept in a narrow encoding."""

    kills = {"fuzz/schema": "a legal Add was answered 500"}
    thresholds = {"fuzz_budget": 40}

    async def add(self, body):
        add = self.check_add(self.parse(body))
        if any(max(message.role) > "\xff" for message in add.messages):
            return Reply(500, {"detail": {"reason": "an error"}})
        return await super().add(body)


class NumbersForManyMemories(Correct):
    """Ids are positions where many memories are asked for."""

    kills = {"fuzz/schema": "a legal Search was answered 200, but:"}
    thresholds = {"fuzz_budget": 40}

    def search_reply(self, search, ranked):
        reply = super().search_reply(search, ranked)
        if search.top_k > 100:
            for place, item in enumerate(reply["data"]):
                item["id"] = place
        return reply


class PagesForOptions(Correct):
    """A page for people when a Search has options."""

    kills = {"fuzz/schema": "text/html"}
    thresholds = {"fuzz_budget": 40}

    async def search(self, body):
        reply = await super().search(body)
        if self.check_search(self.parse(body)).options:
            return replace(reply, headers={"content-type": "text/html"})
        return reply


class BlankOptionsOpenAll(Correct):
    """An empty option drops the filter."""

    kills = {"fuzz/schema": "sees a memory of user"}
    thresholds = {"fuzz_budget": 40}

    def memories_of(self, search):
        if "" in search.options:
            return [memory for all_ in self.memories.values() for memory in all_]
        return super().memories_of(search)


class TakesAnythingForIds(Correct):
    """An id that is no string reaches a database."""

    kills = {"fuzz/invalid": "an invalid Add"}
    thresholds = {"fuzz_budget": 90}

    async def add(self, body):
        fields = self.parse(body)
        ids = (fields.get(name, "") for name in IDS) if isinstance(fields, dict) else ()
        if not all(isinstance(one, str) for one in ids):
            return Reply(500, {"detail": {"reason": "an error"}})
        return await super().add(body)


class AcceptsBlankUsers(Correct):
    """No user is somebody too."""

    kills = {"fuzz/invalid": "an invalid Search"}
    thresholds = {"fuzz_budget": 90}

    def id_text(self, fields, name):
        return "nobody" if fields.get(name) == "" else super().id_text(fields, name)
