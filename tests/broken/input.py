"""Servers that refuse, drop or half-keep what real requests hold."""

from dataclasses import replace

from tests.broken.correct import Correct, RefusedError


class ForbidsUnknownKeys(Correct):
    kills = {"input/unknown-keys": "refused: an Add with an unknown key (422)"}

    def check_add(self, body):
        if isinstance(body, dict) and body.keys() - {
            "request_id", "user_id", "session_id", "messages"
        }:  # fmt: skip
            raise RefusedError(422, "unknown key")
        return super().check_add(body)


class CrashesOnUnknownKeys(Correct):
    """``Message(**message)``."""

    kills = {"input/unknown-keys": "a message with an unknown key was answered 500"}

    def check_message(self, message):
        if isinstance(message, dict) and message.keys() - {"role", "content", "timestamp"}:
            raise TypeError("unexpected keyword argument")
        return super().check_message(message)


class ClosedRoles(Correct):
    kills = {"input/roles": "refused: a message with role 'system' (422)"}

    def check_role(self, role):
        if role not in ("user", "assistant"):
            raise RefusedError(422, "role must be user or assistant")
        return role


class KeepsUserTurnsOnly(Correct):
    kills = {"input/roles": "role 'assistant' was acknowledged, and its text is not found"}

    def index(self, add):
        super().index(replace(add, messages=tuple(m for m in add.messages if m.role == "user")))


class KeepsTheFirstPart(Correct):
    kills = {"input/text-parts": "was acknowledged, and its text is not found"}

    def check_content(self, content):
        return super().check_content(content[:1] if isinstance(content, list) else content)


class RefusesParts(Correct):
    kills = {"input/text-parts": "refused: a message of text parts (422)"}

    def check_content(self, content):
        if not isinstance(content, str):
            raise RefusedError(422, "content must be a string")
        return super().check_content(content)


class RefusesBlankTurns(Correct):
    kills = {"input/blank-turn": "the blank turn '   ' (422)"}

    def check_content(self, content):
        text = super().check_content(content)
        if not text.strip():
            raise RefusedError(422, "content must not be blank")
        return text


class StopsAtBlankTurns(Correct):
    """What comes after a blank turn is not read."""

    kills = {"input/blank-turn": "was acknowledged, and its text is not found"}

    def index(self, add):
        kept = []
        for message in add.messages:
            if not message.content.strip():
                break
            kept.append(message)
        super().index(replace(add, messages=tuple(kept)))


class KeepsBlankTurns(Correct):
    """Stores blank turns, and finds them."""

    kills = {"input/blank-chunk": "a result has no content"}

    def index(self, add):
        shown = tuple(replace(m, content=m.content.strip() or "\0") for m in add.messages)
        super().index(replace(add, messages=shown))

    def content_of(self, memory):
        return memory.message.content.replace("\0", "")


class QueryLanguage(Correct):
    """Hands the query to a full-text engine as it is."""

    kills = {"input/query-syntax": "no answer to a query that begins with"}

    def rank(self, search, memories):
        if set('"()*^') & set(search.query):
            raise ValueError("fts5: syntax error")
        return super().rank(search, memories)


class RefusesWordless(Correct):
    kills = {"input/punctuation-query": "the query '?' was answered 422"}

    def rank(self, search, memories):
        if not self.words(search.query):
            raise RefusedError(422, "the query has no words")
        return super().rank(search, memories)


class CrashesOnEmptyQueries(Correct):
    kills = {"input/blank-query": "the query '' was answered 500"}

    def check_search(self, body):
        if body.get("query") == "":
            raise IndexError("list index out of range")
        return super().check_search(body)


class DumpsOnBlankQueries(Correct):
    kills = {"input/blank-query": "as if it had matched"}

    def check_search(self, body):
        search = super().check_search(body)
        return replace(search, query=search.query if search.query.strip() else "?")


class RefusesNull(Correct):
    kills = {"input/null-optional": "refused: a message with timestamp null (422)"}

    def check_message(self, message):
        if isinstance(message, dict) and message.get("timestamp", 0) is None:
            raise RefusedError(422, "timestamp must be a number")
        return super().check_message(message)


class StoresAsItReads(Correct):
    """Each message is stored as soon as it is found valid."""

    kills = {"input/batch-atomic": "yet another of its messages is found"}

    def check_add(self, body):
        try:
            return super().check_add(body)
        except RefusedError:
            for message in body.get("messages", []):
                self.index(super().check_add(body | {"messages": [message]}))
            raise
