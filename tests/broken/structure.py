"""Servers that are wrong in the shape of what they answer."""

import json
from dataclasses import replace

from tests.broken.correct import Correct, RefusedError, Reply


class Created(Correct):
    kills = {"structure/add-status": "answered 201; only 200"}
    status = 201

    async def add(self, body):
        return replace(await super().add(body), status=self.status)


class AcceptedForLater(Created):
    kills = {"structure/add-status": "answered 202; only 200"}
    status = 202


class NoContent(Created):
    kills = {"structure/add-status": "answered 204; only 200"}
    status = 204

    async def add(self, body):
        await super().add(body)
        return Reply(204, b"")


class AddAsHTML(Correct):
    kills = {"structure/add-json": "content type is text/html"}

    async def add(self, body):
        return replace(await super().add(body), headers={"content-type": "text/html"})


class AddAsWords(Correct):
    kills = {"structure/add-json": "not strict JSON"}

    def add_reply(self, add):
        return b"OK"


class NaNScores(Correct):
    kills = {"structure/search-json": "NaN is not JSON"}

    def search_reply(self, search, ranked):
        reply = super().search_reply(search, ranked)
        for item in reply["data"]:
            item["score"] = float("nan")
        return json.dumps(reply).encode()


class RepeatedKeys(Correct):
    kills = {"structure/search-json": "repeats a key"}

    def search_reply(self, search, ranked):
        reply = json.dumps(super().search_reply(search, ranked))
        return reply.replace('{"id":', '{"id": "", "id":').encode()


class StatusOK(Correct):
    kills = {"structure/add-success": "has no success"}

    def add_reply(self, add):
        return {"status": "ok"}


class SuccessAsText(Correct):
    kills = {"structure/add-success": 'success is the string "true"'}

    def add_reply(self, add):
        return {**super().add_reply(add), "success": "true"}


class SuccessAsNumber(Correct):
    kills = {"structure/add-success": "success is the number 1"}

    def add_reply(self, add):
        return {**super().add_reply(add), "success": 1}


class NoIds(Correct):
    kills = {"structure/add-success": "has no request_id"}

    def add_reply(self, add):
        return {"success": True}


class BareArray(Correct):
    kills = {"structure/search-envelope": "is a list of"}

    def search_reply(self, search, ranked):
        return super().search_reply(search, ranked)["data"]


class Results(Correct):
    kills = {"structure/search-envelope": 'has no "data"; its keys are results'}

    def search_reply(self, search, ranked):
        return {"results": super().search_reply(search, ranked)["data"]}


class Texts(Correct):
    kills = {"structure/search-envelope": '"data" holds the string'}

    def item(self, search, score, memory):
        return memory.message.content


class NilSlice(Correct):
    """Go's empty slice, never made."""

    kills = {"structure/unknown-user": 'gave null, not "data": []'}

    def search_reply(self, search, ranked):
        return {"data": super().search_reply(search, ranked)["data"] or None}


class UnknownUserIs404(Correct):
    kills = {"structure/unknown-user": "was answered 404, not 200"}

    def memories_of(self, search):
        if self.user_key(search.user_id) not in self.memories:
            raise RefusedError(404, "no such user")
        return super().memories_of(search)


class UnknownUserCrashes(UnknownUserIs404):
    kills = {"structure/unknown-user": "was answered 500, not 200"}

    def memories_of(self, search):
        return self.memories[self.user_key(search.user_id)]


class GreetsStrangers(Correct):
    kills = {"structure/unknown-user": "gave a list of 1"}

    def search_reply(self, search, ranked):
        none = [{"id": "none", "content": "No memories found."}]
        return {"data": super().search_reply(search, ranked)["data"] or none}


class NumberedItems(Correct):
    kills = {"structure/item-ids": "the id of item 1 is the number 0"}

    def search_reply(self, search, ranked):
        data = super().search_reply(search, ranked)["data"]
        return {"data": [{**item, "id": n} for n, item in enumerate(data)]}


class LastIdIsNull(Correct):
    """A check of the first hit alone would pass it."""

    kills = {"structure/item-ids": "is null, not a non-empty string"}

    def search_reply(self, search, ranked):
        reply = super().search_reply(search, ranked)
        if reply["data"]:
            reply["data"][-1]["id"] = None
        return reply


class RequestIdAsMemoryId(Correct):
    kills = {"structure/ids-unique": "3 items have only 1 different ids"}

    def memory_id(self, add, position):
        return super().memory_id(add, 0)


class KeepsBlanks(Correct):
    kills = {"structure/item-content": "is blank"}

    def index(self, add):
        known = self.memories.setdefault(self.user_key(add.user_id), [])
        kept = [replace(m, content=m.content if m.content.strip() else "~") for m in add.messages]
        super().index(replace(add, messages=tuple(kept)))
        for place, memory in enumerate(known):
            if memory.message.content == "~":
                known[place] = replace(memory, message=replace(memory.message, content=" "))


class NullContent(Correct):
    kills = {"structure/item-content": "the content of item 3 is null"}

    def search_reply(self, search, ranked):
        reply = super().search_reply(search, ranked)
        for item in reply["data"][2:]:
            item["content"] = None
        return reply


class EpochDates(Correct):
    kills = {"structure/created-at": "is the number 1704067200000, not a string"}

    def created_at(self, timestamp):
        return timestamp


class LocalDates(Correct):
    kills = {"structure/created-at": "without an offset"}

    def created_at(self, timestamp):
        created = super().created_at(timestamp)
        return created and created.partition("+")[0]


class NullDates(Correct):
    kills = {"structure/created-at": "is null; leave the key out"}

    def item(self, search, score, memory):
        return {"created_at": None, **super().item(search, score, memory)}


class WordyDates(Correct):
    kills = {"structure/created-at": "is not ISO 8601"}

    def created_at(self, timestamp):
        return "last winter"


class ExplainsItself(Correct):
    kills = {"structure/extra-keys": "items have keys beyond the contract: session_id"}

    def item(self, search, score, memory):
        return {**super().item(search, score, memory), "session_id": memory.session_id}


class CountsWhatItStored(Correct):
    kills = {"structure/extra-keys": "the Add answer has keys beyond the contract: stored"}

    def add_reply(self, add):
        return {**super().add_reply(add), "stored": len(add.messages)}


class NeedsTimestamps(Correct):
    kills = {"structure/legal-requests": "Add requests were answered 422"}

    def check_timestamp(self, timestamp):
        if timestamp is None:
            raise RefusedError(422, "timestamp is required")
        return super().check_timestamp(timestamp)


class SearchAlwaysCrashes(Correct):
    kills = {"structure/legal-requests": "Search requests were answered 500"}

    def rank(self, search, memories):
        return 1 // 0
