"""Servers to which a user id is more than a string."""

import fnmatch
import json
import re
from dataclasses import replace

from tests.broken.correct import Correct
from tests.broken.isolation_twins import PrefixMatch


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
