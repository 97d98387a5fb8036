"""Probes of memories on a real socket."""

import asyncio
from dataclasses import replace

import pytest

from aml_contract.endpoint.target import Target
from aml_contract.probe.document import ENDPOINT
from aml_contract.probe.guard import NotTrustedError
from aml_contract.probe.session import Probe
from tests.probe.courses import world
from tests.smoke.memory import Memory, serving


class Watcher:
    def __init__(self):
        self.rounds, self.held, self.waits = 0, 0, []

    def started(self, rounds):
        self.rounds = rounds

    def done(self):
        self.held += 1

    def waiting(self, text):
        self.waits.append(text)


class Idempotent(Memory):
    """Stores an Add once, with the time of its messages; finds by words, oldest first."""

    def __init__(self):
        super().__init__()
        self.known = set()

    def store(self, body):
        return body["user_id"]

    def on_add(self, body):
        if (body["user_id"], body["request_id"]) not in self.known:
            self.known.add((body["user_id"], body["request_id"]))
            self.stored[self.store(body)] += body["messages"]
        ids = {key: body[key] for key in ("request_id", "user_id", "session_id")}
        return 200, {"success": True, **ids}

    def on_search(self, body):
        wanted = set(body["query"].split())
        said = list(self.stored[self.store(body)])
        said.sort(key=lambda m: -len(wanted & set(m["content"].split())))
        items = [{"id": f"m{n}", "content": m["content"]} for n, m in enumerate(said)]
        return 200, {"data": items[: body["top_k"]]}


def probed(server, modes=("direct",), **small):
    """A probe of this server, executed, and what its observer saw."""
    small = {"users": 2, "periods": 2, "filler": 1} | small
    probe = Probe(Target(url=server.url), world(**small), list(modes), patience=0.001)
    watcher = Watcher()
    asyncio.run(probe.execute(watcher))
    return probe.report, watcher


def test_the_same_seed_and_run_give_the_same_scores_byte_for_byte():
    made = []
    for _ in range(2):
        with serving(Idempotent) as server:
            report, watcher = probed(server, ("direct", "advice", "joint"))
        assert watcher.rounds == watcher.held > 50
        made.append(report.scores.model_dump_json())
    assert made[0] == made[1]


def test_what_is_sent_is_what_the_platform_sends():
    with serving(Idempotent) as server:
        report, _ = probed(server)
    assert report.scores is not None
    assert {tuple(sorted(body)) for body in server.searches} == {("query", "top_k", "user_id")}
    assert {body["top_k"] for body in server.searches} == {100}
    assert {len(body["messages"]) for body in server.adds} == {2}
    assert server.most_by_user == 1
    figures = report.scores.systems[ENDPOINT].whole
    assert figures["visible"].value == 1.0
    assert figures["leak"].value == 0.0
    assert figures["dated"].value == 0.0
    assert [relation.held for relation in report.scores.relations] == [True] * 5
    assert report.latency["add"].count == len(server.adds)


def test_a_memory_that_stores_repeats_twice_does_not_hold_that_relation():
    class Doubles(Idempotent):
        def on_add(self, body):
            self.known.clear()
            return super().on_add(body)

    with serving(Doubles) as server:
        report, _ = probed(server)
    held = {relation.name: relation.held for relation in report.scores.relations}
    assert not held.pop("replay")
    assert all(held.values())


def test_a_memory_that_shares_a_store_leaks():
    class Shares(Idempotent):
        def store(self, body):
            return "all"

    with serving(Shares) as server:
        report, _ = probed(server)
    own = report.scores.systems[ENDPOINT]
    assert own.whole["leak"].value > 0.1
    assert own.foreign_users == 2
    held = {relation.name: relation.held for relation in report.scores.relations}
    assert not held["stranger"]
    assert not held["neighbours"]


def test_a_memory_that_folds_case_of_ids_shows_neighbours_what_is_not_theirs():
    class FoldsCase(Idempotent):
        def store(self, body):
            return body["user_id"].lower()

    with serving(FoldsCase) as server:
        report, _ = probed(server)
    relations = {relation.name: relation for relation in report.scores.relations}
    assert relations["neighbours"].broken == 1
    assert relations["stranger"].held


def test_passing_trouble_is_sent_again():
    class Stumbles(Idempotent):
        def on_search(self, body):
            return (503, {}) if len(self.searches) % 50 == 1 else super().on_search(body)

    with serving(Stumbles) as server:
        report, watcher = probed(server)
    assert report.scores is not None
    assert report.retries == len(watcher.waits) > 1


@pytest.mark.parametrize("operation", ["add", "search"])
def test_a_broken_contract_ends_it_without_scores(operation):
    class Wrong(Idempotent):
        def answer(self, path, body):
            made = super().answer(path, body)
            return (200, {}) if path == f"/{operation}" and len(self.adds) > 9 else made

    with serving(Wrong) as server:
        report, _ = probed(server)
    assert report.scores is None
    assert report.clause == {"add": "A11", "search": "S5"}[operation]
    assert f"aml check --url {server.url}" in report.broken


def test_nothing_that_answers_is_said():
    probe = Probe(Target(url="http://127.0.0.1:9"), world(users=1, periods=1), ["direct"])
    asyncio.run(probe.execute(Watcher()))
    assert "Nothing answers" in probe.report.unreachable
    assert probe.report.scores is None


def test_a_world_that_tells_its_labels_is_not_sent():
    of = world(users=1, periods=1)
    user = of.users[0]
    first, *rest = user.sessions[0]
    told = replace(first.messages[0], content="gym=Halmere, as you know.")
    labelled = replace(first, messages=(told, first.messages[1]))
    of.users[0] = replace(user, sessions=((labelled, *rest), *user.sessions[1:]))
    with serving(Idempotent) as server:
        probe = Probe(Target(url=server.url), of, ["direct"])
        with pytest.raises(NotTrustedError, match="holds the label '=H'"):
            asyncio.run(probe.execute(Watcher()))
    assert server.adds == []
