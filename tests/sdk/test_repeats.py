"""The same Add again: after it, during it, after it failed."""

import asyncio
import hashlib
import json
import threading
from concurrent.futures import Future, ThreadPoolExecutor

import pytest

from aml_sdk import AddRequest, MemoryLedger, Message, Refused, SQLiteLedger, Unavailable
from aml_sdk.ledger import Claim, body_digest
from aml_sdk.ledger.sqlite import _Job
from tests.sdk.conftest import add_body, running
from tests.sdk.systems import Async, Recorded

ADD = ("add", "u", "r")
DISCARD = ("discard", "u", "r")


def test_the_digest_is_of_the_models_own_json():
    """What a ledger of an earlier version holds must match."""
    body = add_body("é\u2028𝄞", metadata={"unknown": 1})
    body["messages"] += [
        {"role": "user", "content": [{"type": "text", "text": ""}], "timestamp": 1.0},
        {"role": "user", "content": "", "timestamp": None},
    ]
    request = AddRequest.model_validate(body)
    own = (
        '{"request_id":"r","user_id":"u","session_id":"s","messages":['
        '{"role":"user","content":"é\u2028𝄞"},'
        '{"role":"user","content":[{"type":"text","text":""}],"timestamp":1},'
        '{"role":"user","content":""}]}'
    )
    assert request.model_dump_json(exclude_none=True) == own
    assert body_digest(request) == hashlib.sha256(own.encode()).digest()


@pytest.fixture(params=[Recorded, Async])
def system(request):
    return request.param()


@pytest.fixture(params=["memory", "sqlite"])
def ledger(request, tmp_path):
    return MemoryLedger() if request.param == "memory" else SQLiteLedger(tmp_path)


@pytest.fixture
def server(serve, system, ledger):
    return serve(system, ledger=ledger, duplicate_wait=10)


def test_a_repeat_gets_the_same_answer_without_the_system(server, system):
    first = server.add("one", "two")
    for _ in range(3):
        again = server.add("one", "two")
        assert again.status_code == 200
        assert again.content == first.content
    assert system.calls == [ADD]


def test_key_order_unknown_keys_and_number_form_make_no_difference(server, system):
    message = {"role": "user", "content": "x", "timestamp": 1}
    assert server.post("/add", add_body(messages=[message])).status_code == 200
    reordered = {"timestamp": 1.0, "content": "x", "role": "user", "later": None}
    body = dict(reversed(add_body(messages=[reordered], trace="abc").items()))
    assert server.post("/add", json.dumps(body, indent=2).encode()).status_code == 200
    assert system.calls == [ADD]


@pytest.mark.parametrize(
    "other",
    [
        add_body("a", "bc"),
        add_body("ab", "c", session_id="other"),
        add_body("ab"),
        add_body("ab", "c", ""),
        add_body(messages=[{"role": "x", "content": "ab"}, {"role": "user", "content": "c"}]),
        add_body([{"type": "text", "text": "ab"}], "c"),
    ],
)
def test_another_body_under_the_same_ids_is_422_and_changes_nothing(server, system, other):
    assert server.add("ab", "c").status_code == 200
    answer = server.post("/add", other)
    assert answer.status_code == 422
    assert "request_id" in answer.json()["detail"]["reason"]
    assert system.texts() == ["ab", "c"]
    assert server.add("ab", "c").status_code == 200


def test_one_request_id_under_two_users_is_two_adds(server, system):
    assert server.add("mine", user_id="u").status_code == 200
    assert server.add("yours", user_id="v").status_code == 200
    assert system.texts("u") == ["mine"]
    assert system.texts("v") == ["yours"]


def test_ids_do_not_run_into_each_other(server, system):
    for user, request in (("a", "bc"), ("ab", "c"), ("a\x00b", "c"), ("a", "b\x00c")):
        assert server.add("x", user_id=user, request_id=request).status_code == 200
    assert len(system.calls) == 4


def test_duplicates_in_flight_wait_for_the_first(server, system):
    system.go.clear()
    with ThreadPoolExecutor(8) as pool:
        answers = [pool.submit(server.add, "x") for _ in range(8)]
        assert system.entered.acquire(timeout=10)
        # Another body does not wait: whatever becomes of the first, it has no claim.
        assert server.add("other").status_code == 422
        system.go.set()
        assert {answer.result().status_code for answer in answers} == {200}
    assert system.calls.count(ADD) == 1
    assert system.texts() == ["x"]


def test_a_duplicate_that_waited_long_enough_is_409(serve, system, ledger):
    server = serve(system, ledger=ledger, duplicate_wait=0.1)
    system.go.clear()
    with ThreadPoolExecutor(1) as pool:
        first = pool.submit(server.add, "x")
        assert system.entered.acquire(timeout=10)
        assert server.add("x").status_code == 409
        system.go.set()
        assert first.result().status_code == 200
    assert server.add("x").status_code == 200
    assert system.texts() == ["x"]


@pytest.mark.parametrize("failure", [Unavailable("later"), RuntimeError("bug"), OSError("disk")])
def test_a_failed_add_leaves_nothing_and_can_be_delivered_again(server, system, failure):
    system.failures = [failure]
    assert server.add("x").status_code in (500, 503)
    assert system.texts() == []  # it had stored before it failed
    assert server.add("other").status_code == 422
    assert server.add("x").status_code == 200
    assert system.texts() == ["x"]
    assert system.calls == [ADD, DISCARD, DISCARD, ADD]


def test_another_add_does_not_complete_a_failed_one(server, system):
    """Case B15: r1 fails, r2 passes, r1 comes again and is stored."""
    system.failures = [Unavailable("later")]
    assert server.add("vault", request_id="r1").status_code == 503
    assert server.add("bakery", request_id="r2").status_code == 200
    assert server.add("vault", request_id="r1").status_code == 200
    assert sorted(system.texts()) == ["bakery", "vault"]


def test_a_refused_add_leaves_nothing_and_its_ids_are_free(server, system):
    system.failures = [Refused("no such language")]
    answer = server.add("x")
    assert answer.status_code == 422
    assert answer.json()["detail"]["reason"] == "no such language"
    assert system.texts() == []
    assert server.add("corrected").status_code == 200
    assert system.texts() == ["corrected"]


def test_what_cannot_be_discarded_stays_pending(server, system):
    class StuckError(Exception):
        pass

    system.failures = [Refused("no")]

    def fails(user_id, request_id):
        raise StuckError

    system.discard = fails
    assert server.add("x").status_code == 422
    assert server.add("x").status_code == 500  # discarded first, which fails
    del system.discard
    assert server.add("x").status_code == 200
    assert system.texts() == ["x"]


def test_a_conflict_under_way_makes_none_of_the_repeat(serve, system):
    class Slow(MemoryLedger):
        async def claim(self, key, digest):
            found = await super().claim(key, digest)
            if found is Claim.CONFLICT:
                conflicting.set()
                await asyncio.sleep(0.3)
            return found

    conflicting = threading.Event()
    server = serve(system, ledger=Slow())
    assert server.add("x").status_code == 200
    with ThreadPoolExecutor(1) as pool:
        conflict = pool.submit(server.add, "another")
        assert conflicting.wait(10)
        assert server.add("x").status_code == 200
        assert conflict.result().status_code == 422
    assert system.texts() == ["x"]


def test_a_restart_discards_what_was_pending_and_remembers_what_was_done(tmp_path):
    system = Recorded()
    with running(system, ledger=SQLiteLedger(tmp_path)) as server:
        assert server.add("kept", request_id="done").status_code == 200
        system.failures = [Unavailable("later")]
        assert server.add("x").status_code == 503
    # As if the process had died in the middle: something was stored, nothing was discarded.
    system.stored["u"].append(("r", Message(role="user", content="half")))
    system.calls.clear()
    with running(system, ledger=SQLiteLedger(tmp_path)) as server:
        assert system.calls == [DISCARD]
        assert system.texts() == ["kept"]
        assert server.add("kept", request_id="done").status_code == 200
        assert server.add("kept!", request_id="done").status_code == 422
        assert server.add("other").status_code == 422
        assert server.add("x").status_code == 200
    assert system.texts() == ["kept", "x"]


def test_a_ledger_that_cannot_be_written_is_503(serve, system, tmp_path):
    ledger = SQLiteLedger(tmp_path)
    server = serve(system, ledger=ledger)
    ledger._jobs.put(_job("DROP TABLE adds"))
    answer = server.add("x")
    assert answer.status_code == 503
    assert "ledger" in answer.json()["detail"]["reason"]
    assert system.calls == []


def _job(statement):
    return _Job(lambda connection: connection.execute(statement), Future())
