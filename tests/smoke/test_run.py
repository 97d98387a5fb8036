import asyncio
import threading
from datetime import UTC, datetime

import pytest

from aml_contract.endpoint.http import open_endpoint
from aml_contract.endpoint.target import Target
from aml_contract.smoke import locomo
from aml_contract.smoke.answers import ContractBrokenError
from aml_contract.smoke.locomo import Conversation, Question, Session, Turn
from aml_contract.smoke.report import Summary
from aml_contract.smoke.run import Settings, SmokeRun, user_ids
from tests.smoke.memory import Memory, serving


class Watcher:
    def __init__(self):
        self.seen = []

    def started(self, operation, total):
        self.seen.append((operation, total))

    def done(self, operation):
        self.seen.append(operation)

    def waiting(self, text):
        self.seen.append(text)


def smoke(server, conversations, **settings):
    """Run and return the run and its observer; errors of the run are raised."""
    watcher = Watcher()
    settings = {"run": "r1", "patience": 0.001} | settings

    async def go():
        async with open_endpoint(Target(url=server.url)) as endpoint:
            run = SmokeRun(endpoint, conversations, Settings(**settings), watcher)
            try:
                await run.run()
            except ContractBrokenError as error:
                return run, watcher, error
            return run, watcher, None

    return asyncio.run(go())


def conversation(name="conv-1", turns=45, sessions=2):
    made = tuple(
        Session(
            str(s),
            datetime(2024, 1, s, tzinfo=UTC),
            tuple(Turn(f"D{s}:{n}", "Ana", f"Remark {s}/{n}.") for n in range(1, turns + 1)),
        )
        for s in range(1, sessions + 1)
    )
    questions = tuple(Question(f"What is {n}?", 4, (f"D1:{n}",)) for n in range(1, 6))
    return Conversation(name, made, questions, 0, 0)


def test_a_conversation_is_sent_as_the_platform_would():
    with serving() as server:
        run, watcher, error = smoke(server, [conversation()])
    assert error is None
    assert run.record.complete
    assert [len(body["messages"]) for body in server.adds] == [20, 20, 5, 20, 20, 5]
    assert {body["user_id"] for body in server.adds} == {"eval:r1:locomo:conv-1"}
    assert len({body["request_id"] for body in server.adds}) == 6
    assert [body["session_id"][-9:] for body in server.adds] == ["session-1"] * 3 + [
        "session-2"
    ] * 3
    first = server.adds[0]["messages"][0]
    assert first == {"role": "user", "content": "Ana: Remark 1/1.", "timestamp": 1704067200000}
    assert [body["top_k"] for body in server.searches] == [100] * 5
    assert {tuple(sorted(body)) for body in server.searches} == {("query", "top_k", "user_id")}
    assert watcher.seen == [("add", 6), *["add"] * 6, ("search", 5), *["search"] * 5]


def test_adds_are_serial_for_a_user_and_users_go_side_by_side():
    together = threading.Barrier(3, timeout=30)

    class Meets(Memory):
        # Every first Add waits until three users are here at once: it breaks if they never are.
        def on_add(self, body):
            if body["request_id"].endswith("chunk-0"):
                together.wait()
            return super().on_add(body)

    with serving(Meets) as server:
        _run, _, error = smoke(server, [conversation(f"conv-{n}") for n in range(3)])
    assert error is None
    assert server.most_by_user == 1
    assert server.most_users == 3


def test_no_more_users_than_the_concurrency_are_served_at_once():
    with serving() as server:
        smoke(server, [conversation(f"conv-{n}", turns=5) for n in range(5)], concurrency=2)
    assert server.most_users <= 2


def test_passing_trouble_is_sent_again_with_the_same_body():
    class Stumbles(Memory):
        def on_add(self, body):
            return (503, {}) if len(self.adds) == 2 else super().on_add(body)

        def on_search(self, body):
            return (429, {}) if len(self.searches) == 1 else super().on_search(body)

    with serving(Stumbles) as server:
        run, watcher, error = smoke(server, [conversation(sessions=1)])
    assert error is None
    assert server.adds[1] == server.adds[2]
    assert run.record.retries == 2
    assert any("503; try 2 of 32" in str(seen) for seen in watcher.seen)
    assert len(run.record.adds) == 3


@pytest.mark.parametrize(
    ("answer", "words", "clause"),
    [
        ((422, {}), "an Add was answered 422", "A13"),
        ((201, {"success": True}), "an Add was answered 201", "A13"),
        ((503, {}), "an Add was answered 503 at the last of 32 tries", "A13"),
        ((200, {"success": "true"}), "has success 'true', not true", "A11"),
        ((200, {"success": True, "request_id": "other"}), "has request_id 'other'", "A11"),
        ((200, b"{"), "no strict JSON", "A11"),
        ((200, []), "is no object", "A11"),
    ],
)
def test_an_add_that_ends_the_stage_ends_the_run(answer, words, clause):
    class Wrong(Memory):
        def on_add(self, body):
            return answer

    with serving(Wrong) as server:
        run, _, error = smoke(server, [conversation()])
    assert words in str(error)
    assert error.clause == clause
    assert not server.searches
    assert not run.record.complete


@pytest.mark.parametrize(
    ("answer", "words", "clause"),
    [
        ((500, {}), "a Search was answered 500 at the last of 6 tries", "S11"),
        ((409, {}), "a Search was answered 409", "S11"),
        ((200, {"items": []}), "no data list", "S5"),
        ((200, {"data": [{"id": "a", "content": "b"}] * 101}), "101 items came back", "S10"),
        ((200, {"data": [{"id": "a", "content": "b"}, 7]}), "item 2 is no object", "S10"),
        ((200, {"data": [{"id": 5, "content": "b"}]}), "item 1 has id 5", "S6"),
        ((200, {"data": [{"id": "a", "content": ""}]}), "item 1 has content ''", "S7"),
    ],
)
def test_a_search_that_ends_the_stage_ends_the_run(answer, words, clause):
    class Wrong(Memory):
        def on_search(self, body):
            return answer if len(self.searches) > 2 else super().on_search(body)

    with serving(Wrong) as server:
        run, _, error = smoke(server, [conversation()], concurrency=1)
    assert words in str(error)
    assert error.clause == clause
    # What was seen before stays measurable.
    assert len(run.record.answers) == 2
    assert Summary.of(run.record, [conversation()]).questions == 2


def test_the_seed_chooses_the_questions_and_their_order():
    def asked(seed):
        with serving() as server:
            smoke(server, [conversation()], seed=seed, questions=3, concurrency=1)
        return [body["query"] for body in server.searches]

    assert len(asked(1)) == 3
    assert asked(1) == asked(1)
    assert len({tuple(asked(seed)) for seed in range(4)}) > 1


def test_users_never_meet_even_if_conversations_have_one_name():
    assert user_ids([conversation()] * 3, "r") == [
        "eval:r:locomo:conv-1",
        "eval:r:locomo:conv-1:1",
        "eval:r:locomo:conv-1:2",
    ]


def test_a_memory_that_returns_everything_has_full_recall():
    (shipped,) = locomo.load([locomo.shipped()])
    with serving() as server:
        run, _, error = smoke(server, [shipped])
    assert error is None
    summary = Summary.of(run.record, [shipped])
    assert summary.overall.among[100] == 1.0
    assert summary.overall.among[5] < 0.5
    assert summary.messages == 99
    assert summary.tokens.largest < summary.tokens.budget
    assert summary.add.count == 6
