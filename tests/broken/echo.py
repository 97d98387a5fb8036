"""Servers that send other ids back than they were sent."""

import re
import unicodedata
from dataclasses import replace

from tests.broken.correct import Correct, RefusedError


class EchoesTheFirst(Correct):
    kills = {"echo/ids": "request_id"}
    first = None

    def add_reply(self, add):
        self.first = self.first or super().add_reply(add)
        return self.first


class EchoesUserAsSession(Correct):
    kills = {"echo/ids": "session_id"}

    def add_reply(self, add):
        return {**super().add_reply(add), "session_id": add.user_id}


class ParsesChunkNumbers(Correct):
    kills = {"echo/opaque-request-ids": 'request_id "r_'}

    def digest(self, add):
        int(re.search(r"chunk-(\d+)", add.request_id)[1])
        return super().digest(add)


class AsciiRequestIds(Correct):
    kills = {"echo/opaque-request-ids": "was answered 422; one like the documented"}

    def check_add(self, body):
        add = super().check_add(body)
        if not add.request_id.isascii():
            raise RefusedError(422, "request_id must be ASCII")
        return add


class EchoChanges(Correct):
    """The base of those that clean ids up in the answer only."""

    kills = {"echo/untouched": "came back as"}

    def clean(self, text):
        return text.strip()

    def add_reply(self, add):
        return {
            name: self.clean(value) if isinstance(value, str) else value
            for name, value in super().add_reply(add).items()
        }


class EchoLowered(EchoChanges):
    kills = {"echo/untouched": "came back as", "echo/ids": "came back as"}

    def clean(self, text):
        return text.upper()


class EchoNormalised(EchoChanges):
    kills = {"echo/untouched": "cafe\\u0301"}

    def clean(self, text):
        return unicodedata.normalize("NFC", text)


class EchoCollapsed(EchoChanges):
    kills = {"echo/opaque-request-ids": 'with two  spaces" came back as'}

    def clean(self, text):
        return " ".join(text.split())


class EchoEscaped(EchoChanges):
    kills = {"echo/untouched": "came back as"}

    def clean(self, text):
        return text.replace("&", "&amp;").replace("<", "&lt;")


class EchoCut(EchoChanges):
    kills = {"echo/exotic": "(255 characters)"}

    def clean(self, text):
        return text[:255]


class EchoWithoutEmoji(EchoChanges):
    kills = {"echo/exotic": "came back as"}

    def clean(self, text):
        return re.sub(r"[^\u0000-\uffff]", "?", text)


class EchoAsPath(EchoChanges):
    kills = {"echo/exotic": "came back as"}

    def clean(self, text):
        return text.replace("../", "").replace("//", "/")


class RefusesExoticIds(Correct):
    """A refusal is a risk, not a break."""

    kills = {"echo/exotic": "ids were refused", "isolation/emoji-ids": "user ids were refused"}
    risks = frozenset(kills)

    def check_add(self, body):
        add = super().check_add(body)
        if not re.fullmatch(r"[ -~]{1,200}", replace(add, messages=()).user_id):
            raise RefusedError(422, "user_id is too exotic")
        return add
