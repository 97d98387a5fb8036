"""Servers that take one user for another."""

import asyncio
import fnmatch
import json
import os
import re
import unicodedata
from dataclasses import replace

from tests.broken.correct import Correct, RefusedError


class OneStore(Correct):
    """No boundary at all."""

    kills = {
        "isolation/two-users": "sees a memory of user",
        "isolation/few-memories": "sees a memory of user",
        "isolation/run-names": "sees a memory of user",
    }

    def user_key(self, user_id):
        return ""


class SharedEnrichment(Correct):
    """Background work puts everything together after a while."""

    kills = {"isolation/two-users": "sees a memory of user"}

    def __init__(self, *args, **how):
        super().__init__(*args, **how)
        self.everything = []

    def index(self, add):
        super().index(add)
        mine = self.memories[self.user_key(add.user_id)][-len(add.messages) :]
        asyncio.get_running_loop().call_later(0.15, self.everything.extend, mine)

    def memories_of(self, search):
        return list(dict.fromkeys([*super().memories_of(search), *self.everything]))


class GlobalRequestIds(Correct):
    kills = {"isolation/request-id-shared": "that another user had used before was answered 422"}

    def request_key(self, user_id, request_id):
        return request_id


class SwallowsSharedRequestIds(GlobalRequestIds):
    kills = {"isolation/request-id-shared": "does not find its own memory"}

    def digest(self, add):
        return add.request_id


class UpsertsByRequestId(Correct):
    """Rows are keyed by request and position; the last user wins."""

    kills = {"isolation/request-id-shared": "does not find its own memory"}

    def index(self, add):
        super().index(add)
        rows = {self.memory_id(add, place) for place in range(len(add.messages))}
        for user, memories in self.memories.items():
            if user != self.user_key(add.user_id):
                self.memories[user] = [m for m in memories if m.id not in rows]

    def memory_id(self, add, position):
        return f"{add.request_id}#{position}"


class JoinsWithColon(Correct):
    kills = {"isolation/joined-ids": "was answered 422; user"}
    joint = ":"

    def request_key(self, user_id, request_id):
        return f"{user_id}{self.joint}{request_id}"


class JoinsBare(JoinsWithColon):
    kills = {"isolation/joined-ids": "was answered 422; user"}
    joint = ""


class CacheWithoutUser(Correct):
    """The latest question's answer is kept, for whoever asks."""

    kills = {"isolation/caches": "sees a memory of user"}
    asked = None

    def rank(self, search, memories):
        if self.asked != search.query or not self.answer:
            self.asked, self.answer = search.query, super().rank(search, memories)
        return self.answer


class FirstOwnerKeepsText(Correct):
    """Rows are unique by text."""

    kills = {"isolation/identical-text": "second user to store a text does not find it"}

    def index(self, add):
        known = {m.message.content for mine in self.memories.values() for m in mine}
        kept = tuple(m for m in add.messages if m.content not in known)
        super().index(replace(add, messages=kept))


class LastOwnerKeepsText(Correct):
    kills = {"isolation/identical-text": "first user to store a text no longer finds it"}

    def index(self, add):
        texts = {message.content for message in add.messages}
        for user, mine in self.memories.items():
            self.memories[user] = [m for m in mine if m.message.content not in texts]
        super().index(add)


class SharesEqualTexts(Correct):
    """Whoever has a text sees every row of it."""

    kills = {"isolation/identical-text": "and 2 times once another user had stored it too"}

    def memories_of(self, search):
        mine = super().memories_of(search)
        texts = {memory.message.content for memory in mine}
        return [m for all_ in self.memories.values() for m in all_ if m.message.content in texts]


class CutsRunNames(Correct):
    kills = {"isolation/run-names": "sees a memory of user"}

    def user_key(self, user_id):
        return ":".join(user_id.split(":")[-1:])


class FillsUp(Correct):
    """Few memories are filled up with others', up to fifty."""

    kills = {"isolation/few-memories": "sees a memory of user"}

    def memories_of(self, search):
        mine = super().memories_of(search)
        others = [m for all_ in self.memories.values() for m in all_ if m not in mine]
        return mine + others[: max(0, 50 - len(mine))] if len(mine) == 1 else mine


class CutsBeforeFiltering(Correct):
    """The forty nearest of all users, and of them the user's own."""

    kills = {"isolation/few-memories": "hidden by memories of others"}

    def rank(self, search, memories):
        everybody = [m for all_ in reversed(self.memories.values()) for m in all_]
        nearest = [m for _, m in super().rank(search, everybody)[:30]]
        return [(score, m) for score, m in super().rank(search, memories) if m in nearest]


class CurrentUserIsGlobal(Correct):
    kills = {"isolation/parallel-users": "sees a memory of user"}
    current = ""

    async def search(self, body):
        self.current = self.check_search(self.parse(body)).user_id
        await asyncio.sleep(0.02)
        return await super().search(body)

    def memories_of(self, search):
        return super().memories_of(replace(search, user_id=self.current))


class CurrentUserIsGlobalInAdd(CurrentUserIsGlobal):
    kills = {"isolation/parallel-users": "sees a memory of user"}

    async def search(self, body):
        return await Correct.search(self, body)

    def memories_of(self, search):
        return Correct.memories_of(self, search)

    async def store(self, add):
        self.current = add.user_id
        await asyncio.sleep(0.02)
        self.index(replace(add, user_id=self.current))


class PrefixMatch(Correct):
    kills = {"isolation/prefix-ids": "sees a memory of user"}

    def memories_of(self, search):
        return [
            memory
            for user, memories in self.memories.items()
            if self.matches(search.user_id, user)
            for memory in memories
        ]

    def matches(self, asked, user):
        return user.startswith(asked)


class SuffixMatch(PrefixMatch):
    kills = {"isolation/prefix-ids": "sees a memory of user"}

    def matches(self, asked, user):
        return user.endswith(asked)


class FoldsCase(Correct):
    kills = {"isolation/case-twins": "sees a memory of user"}

    def user_key(self, user_id):
        return user_id.lower()


class LosesCapitals(Correct):
    """Stored under another id than it is asked for: lost rather than leaked."""

    kills = {"isolation/case-twins": "does not find its own memory, stored with 200"}

    def index(self, add):
        if "T" in add.user_id:
            add = replace(add, user_id=f"{add.user_id.lower()} ")
        super().index(add)


class StripsIds(Correct):
    kills = {"isolation/padded-twins": "sees a memory of user"}

    def user_key(self, user_id):
        return user_id.strip()


class IgnoresTrailingSpaces(Correct):
    """A CHAR column."""

    kills = {"isolation/padded-twins": "sees a memory of user"}

    def user_key(self, user_id):
        return user_id.rstrip(" ")


class NormalisesIds(Correct):
    kills = {"isolation/unicode-twins": "sees a memory of user"}
    form = "NFC"

    def user_key(self, user_id):
        return unicodedata.normalize(self.form, user_id)


class NormalisesIdsCompatibly(NormalisesIds):
    kills = {"isolation/unicode-twins": "sees a memory of user"}
    form = "NFKC"


class FoldsUnicode(Correct):
    kills = {"isolation/unicode-twins": "sees a memory of user"}

    def user_key(self, user_id):
        return user_id.casefold()


class DropsInvisible(Correct):
    kills = {"isolation/unicode-twins": "sees a memory of user"}

    def user_key(self, user_id):
        return "".join(c for c in user_id if unicodedata.category(c) != "Cf")


class Sanitises(Correct):
    kills = {
        "isolation/separator-twins": "sees a memory of user",
        "isolation/cjk-ids": "sees a memory of user",
        "isolation/emoji-ids": "sees a memory of user",
    }

    def user_key(self, user_id):
        return re.sub(r"[^A-Za-z0-9-]", "_", user_id)


class UnquotesIds(Correct):
    kills = {"isolation/separator-twins": "sees a memory of user"}

    def user_key(self, user_id):
        return user_id.replace("%3A", ":").replace("%20", " ")


class PathsAsIds(Correct):
    """One file for each user."""

    kills = {"isolation/path-like-ids": "sees a memory of user"}

    def user_key(self, user_id):
        return os.path.normpath("/data/" + user_id)


class BaseNames(Correct):
    kills = {"isolation/path-like-ids": "sees a memory of user"}

    def user_key(self, user_id):
        return re.split(r"[/\\]", user_id.rstrip("/"))[-1]


class Globs(PrefixMatch):
    kills = {"isolation/wildcard-ids": "sees a memory of user"}

    def matches(self, asked, user):
        return user == asked or fnmatch.fnmatchcase(user, asked)


class StarIsEverybody(PrefixMatch):
    """As one memory library has it."""

    kills = {"isolation/wildcard-ids": 'user "*" sees a memory of user'}

    def matches(self, asked, user):
        return asked in ("*", user)


class Like(PrefixMatch):
    kills = {"isolation/wildcard-ids": "sees a memory of user"}

    def matches(self, asked, user):
        pattern = re.escape(asked).replace("%", ".*").replace("_", ".")
        return re.fullmatch(pattern, user) is not None


class RegularExpressions(PrefixMatch):
    kills = {"isolation/wildcard-ids": "sees a memory of user"}

    def matches(self, asked, user):
        try:
            return asked == user or re.fullmatch(asked, user) is not None
        except re.error:
            return False


class PastesIntoSQL(PrefixMatch):
    kills = {"isolation/injection-ids": "sees a memory of user"}

    def matches(self, asked, user):
        return asked == user or re.search(r"' OR ('1'='1|1=1 --)", asked) is not None


class TakesOperators(PrefixMatch):
    """``{"user_id": user_id}`` in MongoDB, the id read as JSON first."""

    kills = {"isolation/injection-ids": 'user "{\\"$ne\\": null}" sees a memory of user'}

    def matches(self, asked, user):
        return asked == user or '"$ne"' in asked


class PastesIntoLucene(PrefixMatch):
    kills = {"isolation/injection-ids": "sees a memory of user"}

    def matches(self, asked, user):
        return asked == user or "user_id:(*" in asked


class CutsIds(Correct):
    kills = {"isolation/very-long-ids": "sees a memory of user"}
    length = 255

    def user_key(self, user_id):
        return user_id[: self.length]


class CutsIdsAt64(CutsIds):
    kills = {"isolation/very-long-ids": "sees a memory of user"}
    length = 64


class CutsIdsAt1000(CutsIds):
    kills = {"isolation/very-long-ids": "sees a memory of user"}
    length = 999


class DropsCJK(Correct):
    kills = {"isolation/cjk-ids": "sees a memory of user"}

    def user_key(self, user_id):
        return user_id.encode("ascii", "ignore").decode()


class ThreeByteCharacters(Correct):
    """MySQL's utf8."""

    kills = {"isolation/emoji-ids": "sees a memory of user"}

    def user_key(self, user_id):
        return re.sub("[^\u0000-\uffff]", "?", user_id)


class CoercesIds(Correct):
    """Ids that read as JSON become what they read as."""

    kills = {"isolation/coerced-ids": "sees a memory of user"}

    def user_key(self, user_id):
        try:
            return str(json.loads(user_id))
        except ValueError:
            return user_id


class StringifiesIds(Correct):
    kills = {"isolation/coerced-ids": "user_id null, which is no string, sees a memory of user"}

    def id_text(self, fields, name):
        return super().id_text({name: str(fields.get(name))}, name)


class CStrings(Correct):
    kills = {"isolation/control-characters": "sees a memory of user"}

    def user_key(self, user_id):
        return user_id.partition("\0")[0]


class DropsControls(Correct):
    kills = {"isolation/control-characters": "sees a memory of user"}

    def user_key(self, user_id):
        return re.sub(r"[\x00-\x1f\x7f]", "", user_id)


class CamelCaseWins(Correct):
    """What protobuf's JSON reader takes for the same field."""

    kills = {"isolation/alias-keys": "sees a memory of user"}

    def id_text(self, fields, name):
        if name == "user_id" and "userId" in fields:
            return super().id_text({name: fields["userId"]}, name)
        return super().id_text(fields, name)


class CamelCaseWinsInAdd(Correct):
    """Its Add takes either spelling."""

    kills = {"isolation/alias-keys": "sees a memory of user"}

    def check_add(self, body):
        add = super().check_add(body)
        return replace(add, user_id=body.get("userId", add.user_id))


class TakesTheLastSpelling(Correct):
    """The check of a gateway reads plain keys, the parser behind it all of them."""

    kills = {"isolation/duplicate-keys": "Add takes one and Search the other"}
    risks = frozenset(kills)

    def parse(self, body):
        return json.loads(body)

    async def search(self, body):
        plain = re.search(rb'"user_id": ("[^"]*")', body)
        fields = self.parse(body)
        if plain and isinstance(fields, dict):
            fields["user_id"] = json.loads(plain[1])
        return await super().search(json.dumps(fields).encode())


class RefusesTwins(Correct):
    """A refusal of odd ids is a risk, not a leak."""

    kills = {"isolation/padded-twins": "user ids were refused"}
    risks = frozenset(kills)

    def check_add(self, body):
        add = super().check_add(body)
        if add.user_id != add.user_id.strip():
            raise RefusedError(422, "user_id must not be padded")
        return add
