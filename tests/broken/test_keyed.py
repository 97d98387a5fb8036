"""Keys under every scheme, and what a killer of a rule that needs no key cannot show."""

import pytest

from aml_contract.endpoint.auth import Scheme
from aml_contract.outcome import Outcome
from aml_contract.rule import all_rules
from tests.broken.correct import Correct, RefusedError
from tests.broken.serving import KEY, judge
from tests.broken.transport_connections import LeavesBodies
from tests.servers import in_thread

RULES = {rule.name: rule for rule in all_rules()}
KEYED = [rule for rule in RULES.values() if rule.family == "auth"]


class LeavesBodiesOfStrangers(LeavesBodies):
    """Only a request with a wrong key is refused before it is read."""

    kills = {}
    statuses = (401,)


class Careless(Correct):
    """Lets in whoever ``lets_in`` says."""

    kills = {}
    lets_in = None

    def authorised(self, headers):
        value = headers.get("x-api-key" if self.scheme == "x-api-key" else "authorization")
        given = value and value.rpartition(" ")[2]
        return super().authorised(headers) or self.lets_in(given)


class Expiring(Correct):
    """Its key is good for so many requests."""

    kills = {}
    good_for = 0

    def authorised(self, headers):
        self.good_for -= 1
        return self.good_for >= 0 and super().authorised(headers)


class RefusesSomeIds(Correct):
    """Says that the key is at fault where a request_id is."""

    kills = {}

    async def add(self, body):
        if b'"request_id":"r_' in body.replace(b" ", b""):
            raise RefusedError(403, "not allowed")
        return await super().add(body)


def judged(server, rules, scheme):
    app = server(scheme=scheme.value, key=KEY)
    target = {"auth": scheme, "key": KEY, "key_env": "AML_KEY"}
    with in_thread(app, patient=False, **app.uvicorn_settings()) as url:
        return judge(rules, url=url, strict=True, **target)


@pytest.mark.parametrize("scheme", [Scheme.BEARER, Scheme.TOKEN, Scheme.X_API_KEY])
def test_the_correct_server_passes_under_every_scheme(scheme):
    found = judged(Correct, KEYED, scheme)
    assert {result.outcome for result in found.values()} == {Outcome.PASSED}


@pytest.mark.parametrize("scheme", [Scheme.TOKEN, Scheme.X_API_KEY])
@pytest.mark.parametrize(
    ("lets_in", "rule"),
    [
        (lambda given: given is None, "auth/missing-key"),
        (lambda given: given is not None, "auth/wrong-key"),
        (lambda given: given is not None and KEY.startswith(given), "auth/key-variants"),
    ],
    ids=["nobody", "anybody", "a-prefix"],
)
def test_a_careless_check_is_found_under_every_scheme(scheme, lets_in, rule, monkeypatch):
    monkeypatch.setattr(Careless, "lets_in", staticmethod(lets_in))
    found = judged(Careless, [RULES[rule]], scheme)[rule]
    assert found.outcome is Outcome.FAILED, found.message


@pytest.mark.parametrize(
    "rule", ["echo/opaque-request-ids", "isolation/request-id-shared", "transport/content-type"]
)
def test_a_key_that_expires_in_the_middle_is_one_finding(rule, monkeypatch):
    monkeypatch.setattr(Expiring, "good_for", 2)
    found = judged(Expiring, [RULES[rule], RULES["structure/legal-requests"]], Scheme.BEARER)
    assert found[rule].outcome is Outcome.NOT_TESTED
    assert "is answered 401" in found[rule].message
    assert found["structure/legal-requests"].outcome is Outcome.FAILED
    assert "is the key right" in found["structure/legal-requests"].message


def test_what_is_refused_like_a_wrong_key_and_is_none_is_found():
    rule = "echo/opaque-request-ids"
    found = judged(RefusesSomeIds, [RULES[rule]], Scheme.BEARER)[rule]
    assert found.outcome is Outcome.FAILED
    assert "was answered 403" in found.message


def test_a_body_left_unread_after_a_wrong_key_is_found():
    rule = RULES["transport/after-refusal"]
    found = judged(LeavesBodiesOfStrangers, [rule], Scheme.BEARER)[rule.name]
    assert "after a wrong key was answered 401, a good Search on the same" in found.message
