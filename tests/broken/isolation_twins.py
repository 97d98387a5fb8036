"""Servers that take ids for one which are two."""

import os
import re
import unicodedata
from dataclasses import replace

from tests.broken.correct import Correct, RefusedError


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


class CStrings(Correct):
    kills = {"isolation/control-characters": "sees a memory of user"}

    def user_key(self, user_id):
        return user_id.partition("\0")[0]


class DropsControls(Correct):
    kills = {"isolation/control-characters": "sees a memory of user"}

    def user_key(self, user_id):
        return re.sub(r"[\x00-\x1f\x7f]", "", user_id)


class RefusesTwins(Correct):
    """A refusal of odd ids is a risk, not a leak."""

    kills = {"isolation/padded-twins": "user ids were refused"}
    risks = frozenset(kills)

    def check_add(self, body):
        add = super().check_add(body)
        if add.user_id != add.user_id.strip():
            raise RefusedError(422, "user_id must not be padded")
        return add
