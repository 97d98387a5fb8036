"""The replayer itself, on cases of our own: it sends what a case says and misses nothing."""

import pytest

from aml_contract.endpoint.target import Target
from tests.broken.serving import managed
from tests.cases.expectations import Expectation
from tests.cases.replay import allows, request_of
from tests.cases.test_cases import replayed


def add(text, request="a", user="walrus", **more):
    message = {"role": "user", "content": text}
    body = {"request_id": request, "user_id": user, "session_id": "s", "messages": [message]}
    return {"op": "add", "request": body, **more}


def search(query, user="walrus", **more):
    return {"op": "search", "request": {"query": query, "user_id": user, "top_k": 10}, **more}


def on(server, *steps, statuses=None):
    target = Target(cmd=managed(server)["cmd"])
    expected = Expectation(None, statuses or {})
    replay = replayed({"steps": list(steps)}, expected, target)
    replay.judge_answers(expected.statuses)
    return replay


def test_repeats_are_numbered_and_users_kept_apart():
    replay = on(
        "Correct",
        add("pebble {i}", "a-{i}", "seal-{i mod 2}", repeat=4, vary="running number i"),
        search("pebble {i}", "seal-{i mod 2}", repeat=4, vary="the same"),
    )
    assert [set(replay.texts(1, n)) for n in range(2)] == [
        {"pebble 0", "pebble 2"},
        {"pebble 1", "pebble 3"},
    ]


def test_raw_bodies_are_sent_as_they_are():
    broken = '{"query": "half \\ud83d", "user_id": "walrus", "top_k": 1}'
    replay = on("Correct", {"op": "search", "raw_body": broken}, statuses={0: "4xx"})
    assert replay.answers[0][0].body == broken.encode()


def test_a_restart_is_a_restart():
    steps = add("pebble"), search("pebble", before="restart the service")
    on("Correct", *steps).found("pebble", 1)
    with pytest.raises(AssertionError, match="not found by step 1"):
        on("InMemory", *steps).found("pebble", 1)


def test_a_parallel_group_is_sent_at_once():
    steps = [add("pebble", parallel_group=1), add("pebble", parallel_group=1), search("pebble")]
    assert on("Correct", *steps).count("pebble", 2) == 1
    with pytest.raises(AssertionError, match="one id on two items"):
        on("ClaimsLate", *steps)


def test_a_client_that_gives_up_has_no_answer():
    step = add("pebble", fault="client gives up after 1 ms and resends")
    replay = on("Correct", step, add("pebble"), search("pebble"))
    assert replay.count("pebble", 2) == 1


def test_an_unexpected_status_is_noticed():
    with pytest.raises(AssertionError, match="step 0, answer 0: 422"):
        on("Correct", search(""))
    with pytest.raises(AssertionError, match="laxer"):
        on("Correct", search("", expect_status="4xx"), statuses={0: "200"})


def test_generated_texts_hold_their_words_and_have_their_length():
    step = add("{400 characters of anything, ending in 'the last pebble'}", expand="replace")
    text = request_of(step, 0)["messages"][0]["content"]
    assert len(text) == 400
    assert text.endswith(" the last pebble")
    step = add("{900 characters of it, with 'a pebble.' near the end}", expand="replace")
    text = request_of(step, 0)["messages"][0]["content"]
    assert len(text) == 900
    assert 500 < text.index("a pebble.") < 880


@pytest.mark.parametrize(
    ("words", "allowed", "refused"),
    [
        ("200", ("200",), ("201", "422", "500")),
        ("4xx", ("400", "422"), ("200", "500")),
        ("4xx, or 200 with nothing stored", ("200", "404"), ("503", "204")),
    ],
)
def test_expected_statuses_are_read(words, allowed, refused):
    assert all(allows(words, status) for status in allowed)
    assert not any(allows(words, status) for status in refused)
