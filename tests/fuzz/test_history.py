"""The state machine finds what isolation servers do wrong, in few calls, and nothing else."""

import asyncio

import pytest

from aml_contract.fuzz import machine
from aml_contract.fuzz.history import Call, History, Kind
from aml_contract.fuzz.ids import FAMILIES, Form, Tag
from tests.broken import servers
from tests.broken.correct import Correct, Reply
from tests.fuzz.searching import searched

NOT_HERE = {
    "CutsBeforeFiltering": "a memory is crowded out by hundreds of others'",
    "CutsBeforeItFilters": "a memory is crowded out by hundreds of others'",
    "CountsWordsOfEverybody": "the order changes, no memory is leaked or lost",
    "ScalesByTheBest": "the scores change, no memory is leaked or lost",
    "CurrentUserIsGlobal": "a race",
    "CurrentUserIsGlobalInAdd": "a race",
    "RefusesTwins": "a refusal is a risk, no fault",
    "StoresForBoth": "a key that is repeated: no value of JSON can show it",
    "SearchesForBoth": "a key that is repeated: no value of JSON can show it",
    "TakesTheLastSpelling": "a key that is repeated: no value of JSON can show it",
}
FAST = {"FoldsCase", "UpsertsByRequestId", "SharedEnrichment", "SharesEqualTexts", "FillsUp"}
FAULTS = [
    pytest.param(name, marks=() if name in FAST else pytest.mark.slow)
    for name, server in servers().items()
    if server.__module__.startswith("tests.broken.isolation") and name not in NOT_HERE
]


class FailsOnce(Correct):
    """Its first Search of a stored memory finds nothing: never again."""

    kills = {}
    failed = False

    def memories_of(self, search):
        mine = super().memories_of(search)
        if mine and not self.failed:
            self.failed = True
            return []
        return mine


class LeaksOnce(Correct):
    kills = {}
    leaked = False

    def memories_of(self, search):
        mine = super().memories_of(search)
        if len(self.memories) > 3 and not self.leaked:
            self.leaked = True
            return [memory for all_ in self.memories.values() for memory in all_]
        return mine


class WritesLate(Correct):
    """Found a little later than acknowledged: other rules say so, in better words."""

    kills = {}

    def index(self, add):
        asyncio.get_running_loop().call_later(0.15, super().index, add)


class TellsMore(Correct):
    """Every search gives each memory twice, and some more often than the one before."""

    kills = {}
    searches = 0

    def memories_of(self, search):
        self.searches += 1
        return super().memories_of(search) * (2 + self.searches % 5)


class RefusesOddIds(Correct):
    kills = {}

    async def add(self, body):
        user = self.parse(body)["user_id"]
        if not user.isascii() or user != user.strip() or "/" in user:
            return Reply(422, {"detail": {"reason": "an odd id"}})
        return await super().add(body)


class RefusesUnknownKeys(Correct):
    """A strict reading: userId beside user_id is refused, by Search too."""

    kills = {}

    async def search(self, body):
        if set(self.parse(body)) - {"query", "user_id", "top_k", "options"}:
            return Reply(400, {"detail": {"reason": "an unknown key"}})
        return await super().search(body)


@pytest.mark.parametrize("name", FAULTS)
def test_every_fault_of_isolation_is_found_and_shown_in_four_calls(name):
    search = searched(servers()[name]())
    assert search.found is not None, [story.message for story in search.unrepeated]
    story, breach = search.found
    assert len(story.calls) <= 4, story.calls
    assert breach.shown


def test_what_shrank_breaks_again_and_not_on_the_correct_server():
    story, _ = searched(servers()["FoldsCase"]()).found
    assert {call.user.text.lower() for call in story.calls} < {
        form.text.lower() for family in FAMILIES for form in family.users
    }
    again = tuple(Call.from_json(call.as_json()) for call in story.calls)
    assert again == story.calls
    assert replayed(servers()["FoldsCase"](), again) is Kind.LEAK
    assert replayed(Correct(), again) is None


def replayed(server, calls):
    class Only(machine.Search):
        def run(self):
            self.breach = self.replay(calls)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("tests.fuzz.searching.Search", Only)
        breach = searched(server).breach
    return breach and breach.kind


@pytest.mark.parametrize("server", [Correct, RefusesOddIds, RefusesUnknownKeys, TellsMore])
def test_right_servers_are_not_accused(server, monkeypatch):
    monkeypatch.setattr(machine, "EXAMPLES", 1 if server is TellsMore else 2)
    search = searched(server(), rounds=1)
    assert search.found is None
    assert search.made >= len(FAMILIES)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
def test_the_correct_server_is_not_accused_over_seeds(seed):
    search = searched(Correct(), seed=seed, rounds=4)
    assert search.found is None
    assert not search.unrepeated


@pytest.mark.parametrize(("server", "kind"), [(FailsOnce, Kind.LOSS), (LeaksOnce, Kind.LEAK)])
def test_what_happens_once_is_not_reported(server, kind, monkeypatch):
    monkeypatch.setattr(machine, "FAMILIES", FAMILIES[:4])
    monkeypatch.setattr(machine, "EXAMPLES", 2)
    search = searched(server(), rounds=1)
    assert search.found is None
    assert [story.kind for story in search.unrepeated] == [kind]


def test_lateness_is_no_loss(monkeypatch):
    monkeypatch.setattr(machine, "EXAMPLES", 2)
    monkeypatch.setattr(machine, "FAMILIES", FAMILIES[:3])
    search = searched(WritesLate(), rounds=1)
    assert search.found is None
    assert {story.kind for story in search.unrepeated} == {Kind.LOSS}


def test_the_same_seed_makes_the_same_histories(monkeypatch):
    made = []
    original = History.make

    def recorded(self, *calls):
        made.append(calls)
        original(self, *calls)

    monkeypatch.setattr(History, "make", recorded)
    monkeypatch.setattr(machine, "FAMILIES", FAMILIES[:2])
    runs = []
    for seed in (1, 1, 2):
        made.clear()
        searched(Correct(), seed=seed, rounds=1)
        runs.append(list(made))
    assert runs[0] == runs[1] != runs[2]


def test_ids_of_two_histories_never_meet():
    one, other = Tag("00000000000a"), Tag("00000000000b")
    for family in FAMILIES:
        for form in family.users:
            if form.stored:
                assert form.value(one) != form.value(other), form
        values = [form.value(one) for form in family.users]
        assert len({repr(value) for value in values}) == len(values), family.name


def test_ids_that_are_no_strings_are_sent_as_they_are():
    assert Form("null", raw=True).value(Tag("0" * 12)) is None
    assert isinstance(Form("{n}", raw=True).value(Tag("0" * 12)), int)
