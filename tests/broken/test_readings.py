"""Where readers of the same pages disagree, both are right: neither reading fails a rule."""

import functools

import pytest

from aml_contract.outcome import Outcome
from aml_contract.rule import Capability, all_rules
from tests.broken.correct import Correct, RefusedError
from tests.broken.input import ClosedRoles, RefusesBlankTurns, RefusesParts
from tests.broken.serving import KEY, judge, keyed
from tests.servers import in_thread

BAD = {Outcome.FAILED, Outcome.KIT_ERROR}
ADD_KEYS = {"request_id", "user_id", "session_id", "messages"}


class RefusesUnknownFields(Correct):
    kills = {}

    def check_add(self, body):
        if isinstance(body, dict) and body.keys() - ADD_KEYS:
            raise RefusedError(422, "unknown key")
        return super().check_add(body)

    def check_message(self, message):
        if isinstance(message, dict) and message.keys() - {"role", "content", "timestamp"}:
            raise RefusedError(422, "unknown key")
        return super().check_message(message)

    def check_search(self, body):
        if isinstance(body, dict) and body.keys() - {"query", "user_id", "top_k", "options"}:
            raise RefusedError(422, "unknown key")
        return super().check_search(body)


class SaysBadInputWith422(Correct):
    kills = {}

    def error(self, status, reason):
        return super().error(422 if status == 400 else status, reason)


class SaysBadInputWith400(Correct):
    kills = {}

    def error(self, status, reason):
        return super().error(400 if status == 422 else status, reason)


class ClampsTopK(Correct):
    kills = {}

    def check_top_k(self, top_k):
        return min(super().check_top_k(top_k), 100)


class RefusesLargeTopK(Correct):
    kills = {}

    def check_top_k(self, top_k):
        if super().check_top_k(top_k) > 100:
            raise RefusedError(422, "top_k must be at most 100")
        return int(top_k)


class KeepsTheFirstBody(Correct):
    """Same key, other body: the first write wins, and nobody is told."""

    kills = {}

    async def claim(self, key, add):
        return key not in self.done and await super().claim(key, add)


class LeavesOutScores(Correct):
    kills = {}

    def item(self, search, score, memory):
        item = super().item(search, score, memory)
        return {name: value for name, value in item.items() if name != "score"}


class AnswersExtraKeys(Correct):
    kills = {}

    def add_reply(self, add):
        return super().add_reply(add) | {"stored": len(add.messages), "took_ms": 3}

    def item(self, search, score, memory):
        return super().item(search, score, memory) | {"session_id": memory.session_id}

    def search_reply(self, search, ranked):
        return super().search_reply(search, ranked) | {"total": len(ranked)}


class TakesAnyScheme(Correct):
    kills = {}

    def authorised(self, headers):
        given = headers.get("authorization", "").partition(" ")[2]
        return self.key in (given, headers.get("x-api-key"))


# The correct server is one of the two sides of most questions.
READINGS = {
    "unknown request fields": (Correct, RefusesUnknownFields),
    "status of bad input": (SaysBadInputWith422, SaysBadInputWith400),
    "top_k above 100": (ClampsTopK, RefusesLargeTopK),
    "other roles": (Correct, ClosedRoles),
    "text parts": (Correct, RefusesParts),
    "a blank turn": (Correct, RefusesBlankTurns),
    "same key, other body": (Correct, KeepsTheFirstBody),
    "score": (Correct, LeavesOutScores),
    "extra keys in replies": (Correct, AnswersExtraKeys),
    "authentication": (Correct, TakesAnyScheme),
}
RISKS = {
    "RefusesUnknownFields": "input/unknown-keys",
    "RefusesLargeTopK": "limits/top-k-large",
    "ClosedRoles": "input/roles",
    "RefusesParts": "input/text-parts",
    "RefusesBlankTurns": "input/blank-turn",
    "KeepsTheFirstBody": "repeats/conflicting-body",
    "AnswersExtraKeys": "structure/extra-keys",
}
SIDES = [
    pytest.param(server, id=f"{question}-{server.__name__}")
    for question, sides in READINGS.items()
    for server in sides
]
ABOUT = {"auth", "errors", "evidence", "input", "limits", "order", "repeats", "structure"}
"""Families that could take a side; the others are tried by the slow test."""


@functools.cache
def tried(server, fast):
    """Every rule that needs no process, strictly."""
    rules = [
        rule
        for rule in all_rules()
        if not rule.needs
        and Capability.IMAGES not in rule.capabilities
        and (not fast or (rule.family in ABOUT and rule.quick))
    ]
    app = server(scheme="bearer", key=KEY)
    with in_thread(app, **app.uvicorn_settings()) as url:
        return judge(rules, url=url, strict=True, **keyed(True))


@pytest.mark.parametrize("server", SIDES)
def test_neither_reading_fails(server):
    found = tried(server, fast=True)
    assert not {n: r.message for n, r in found.items() if r.outcome in BAD}
    warned = {n for n, r in found.items() if r.outcome is Outcome.WARNED}
    assert warned == {RISKS[server.__name__]} if server.__name__ in RISKS else not warned


@pytest.mark.slow
@pytest.mark.parametrize("server", SIDES)
def test_neither_reading_fails_any_rule(server):
    found = tried(server, fast=False)
    assert not {n: r.message for n, r in found.items() if r.outcome in BAD}


def test_every_question_is_there():
    assert len(READINGS) == 10
