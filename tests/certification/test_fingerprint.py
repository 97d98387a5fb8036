"""Fingerprints of real servers: the same version, another one, and what cannot be told."""

import asyncio
import itertools
import random
from datetime import datetime, timedelta

import pytest

from aml_contract.certification.fingerprint import FingerprintStage, Sameness, compare
from aml_contract.certification.fingerprint.canaries import canaries_of
from aml_contract.certification.fingerprint.measuring import Taking, Untaken
from aml_contract.certification.fingerprint.model import Aspect, Fingerprint
from aml_contract.certification.fingerprint.reading import Answer, asked_of
from aml_contract.certification.fingerprint.survival import survival
from aml_contract.certification.stage import Basis, StageVerdict
from aml_contract.endpoint.http import open_endpoint
from aml_contract.endpoint.target import Target
from aml_contract.namespace import Namespace, squeeze
from tests.certification import memories
from tests.certification.declared import context, declared
from tests.certification.memories import Ranked
from tests.smoke.memory import serving

_runs = itertools.count()


def taking(endpoint, seed=7):
    namespace = Namespace(seed, f"run-{next(_runs)}", "fingerprint")
    return Taking(endpoint, canaries_of(seed), namespace, patience=0.01)


def with_endpoint(url, work):
    async def go():
        async with open_endpoint(Target(url=url)) as endpoint:
            return await work(endpoint)

    return asyncio.run(go())


def fingerprint(url):
    return with_endpoint(url, lambda endpoint: taking(endpoint).fingerprint())


def of(kind):
    with serving(kind) as server:
        return fingerprint(server.url)


@pytest.fixture(scope="module")
def certified():
    return of(Ranked)


@pytest.mark.parametrize("seed", range(20))
def test_canaries_are_many_and_each_is_its_own(seed):
    canaries = canaries_of(seed)
    texts = list(map(squeeze, canaries.texts))
    assert len(texts) == 36
    assert [a for a, b in itertools.permutations(texts, 2) if a in b] == []
    bags = [tuple(sorted(memories.words(text))) for text in canaries.texts]
    assert len(set(bags)) == len(bags), "a ranking would have to break ties"
    assert len(canaries.queries) == len(set(canaries.queries)) == 18
    assert all(len(session) <= 20 for session in canaries.sessions + canaries.bystander)
    assert canaries == canaries_of(seed)
    assert canaries != canaries_of(seed + 1)


def test_the_same_version_is_the_same_and_survives_its_file(certified):
    again = Fingerprint.model_validate_json(certified.model_dump_json())
    assert again == certified
    found = compare(again, of(Ranked))
    assert found.sameness is Sameness.SAME
    assert "18 of 18 questions" in found.sentence
    assert (found.differences, found.remarks) == ([], [])


def test_two_on_one_store_do_not_meet():
    with serving(Ranked) as server:
        first, second = fingerprint(server.url), fingerprint(server.url)
    assert not set(first.users) & set(second.users)
    assert compare(first, second).sameness is Sameness.SAME


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        (memories.Reweighted, "other memories"),
        (memories.Framed, "18 of 18 questions bring back the same memories in other words"),
        (memories.Dateless, "no item has “created_at: when it was said” any more"),
        (memories.Newer, "a Search without a query is answered 400, no longer 422"),
        (memories.Rewriting, "other memories"),
    ],
)
def test_another_version_is_changed(certified, kind, words):
    found = compare(certified, of(kind))
    assert found.sameness is Sameness.CHANGED
    assert any(words in difference for difference in found.differences), found.differences


def test_a_ranking_at_random_is_never_called_changed(certified):
    one, other = of(memories.Shuffled), of(memories.Shuffled)
    for old, new in ((one, other), (one, one)):
        found = compare(old, new)
        assert found.sameness is Sameness.UNKNOWN
        assert "wavers by itself" in found.sentence
        assert "when it was certified" in found.sentence
    assert one.steady(Aspect.RANKING) < 0.5


def test_a_ranking_that_swaps_now_and_then_is_not_called_changed():
    made = [of(memories.Swapping) for _ in range(6)]
    found = [compare(old, new).sameness for old, new in itertools.combinations(made, 2)]
    assert Sameness.CHANGED not in found


def wavering(chance, swaps, by_user):
    """A fingerprint of answers whose first two items are swapped so often."""
    canaries = canaries_of(1)
    answers = []
    for query in canaries.queries:
        order = [str(n) for n in random.Random(query).sample(range(36), 10)]
        mood = [chance.random() < swaps for _ in range(2)]
        asked = []
        for time in range(4):
            first, second, *rest = order
            swapped = mood[time % 2] if by_user else chance.random() < swaps
            places = (second, first, *rest) if swapped else (first, second, *rest)
            asked.append(Answer(places, ("#form",) * 10, (), frozenset()))
        answers.append(asked_of(asked))
    return Fingerprint(
        canaries=canaries,
        users=["one", "other"],
        stored="2026-11-30T12:00:00+00:00",
        answers=answers,
        seen=[],
        shape=[],
        refusals=[],
        add_seconds=[],
        search_seconds=[],
    )


@pytest.mark.parametrize("by_user", [False, True], ids=["each-answer", "each-user"])
@pytest.mark.parametrize("swaps", [0.01, 0.05, 0.1, 0.3, 0.5])
def test_however_often_a_ranking_wavers_it_is_not_called_changed(swaps, by_user):
    chance = random.Random(5)
    pairs = [[wavering(chance, swaps, by_user) for _ in range(2)] for _ in range(100)]
    assert Sameness.CHANGED not in [compare(old, new).sameness for old, new in pairs]


def test_what_a_clock_and_an_id_write_is_no_other_version(monkeypatch):
    old = of(memories.Dated)
    assert old.steady(Aspect.CONTENTS) == 1
    monkeypatch.setattr(memories.Dated, "day", "Tuesday, 1 December 2026")
    assert compare(old, of(memories.Dated)).sameness is Sameness.SAME


def test_where_others_matter_lists_prove_nothing():
    with serving(memories.Crowded) as server:
        before = fingerprint(server.url)
        crowd = [{"content": text} for text in canaries_of(99).texts * 3]
        crowd += [{"content": query} for query in canaries_of(7).queries[::3] * 30]
        server.stored["eval:full:conv-1"] += crowd
        after = fingerprint(server.url)
    assert compare(before, after).sameness is not Sameness.SAME
    assert compare(before, after, others_matter=True).sameness is Sameness.UNKNOWN


def test_a_memory_that_rewrites_has_a_fingerprint_too():
    one = of(memories.Rewriting)
    assert one.seen == []
    assert compare(one, of(memories.Rewriting)).sameness is Sameness.SAME


def test_other_canaries_cannot_be_compared(certified):
    other = certified.model_copy(update={"canaries": canaries_of(8)})
    assert compare(certified, other).sameness is Sameness.UNKNOWN


def test_nothing_that_is_not_ours_is_kept():
    class Leaky(Ranked):
        def item(self, message, number, score):
            made = super().item(message, number, score)
            return {**made, "patient": "x", "content": f"{made['content']} (Zebedee, 12 Elm Row)"}

        def on_search(self, body):
            status, answer = super().on_search(body)
            stranger = {"id": "zebedee-1", "content": "Zebedee owes money", "score": 9}
            return status, {**answer, "data": [stranger, *answer.get("data", [])][:10]}

    text = of(Leaky).model_dump_json()
    assert "ebedee" not in text
    assert "patient" not in text
    assert "another field #" in text


def test_lost_canaries_are_told_from_another_version(certified):
    def asked(url, old, days):
        async def work(endpoint):
            now = datetime.fromisoformat(old.stored) + timedelta(days=days)
            return await survival(old, taking(endpoint), now)

        return with_endpoint(url, work)

    with serving(Ranked) as server:
        old = fingerprint(server.url)
        there = asked(server.url, old, 3)
        assert there.found == there.of > 30
        assert "are still there" in there.sentence
        assert "must be deleted within 30 days" in asked(server.url, old, 31).sentence
        for user in old.users:
            del server.stored[user][::3]
        some = asked(server.url, old, 3)
        assert f"{some.of - some.found} of {some.of} canaries" in some.sentence
        assert 8 <= some.of - some.found <= 12
    with serving(Ranked) as restarted:
        assert "That alone is no other version" in asked(restarted.url, old, 3).sentence
        assert "as they must be (clause L3)" in asked(restarted.url, old, 31).sentence
        assert compare(old, fingerprint(restarted.url)).sameness is Sameness.SAME


def test_what_refuses_canaries_has_no_fingerprint():
    with pytest.raises(Untaken, match="a canary's Add was answered 422"):
        of(memories.Refusing)


def stage(kind, tmp_path):
    with serving(kind) as server:
        made = context(declared(), directory=tmp_path, url=server.url)
        made.patience = 0.01
        shown = []
        made.progress = shown.append
        data = asyncio.run(FingerprintStage().measure(made))
    return data, FingerprintStage().judge(data, Basis(declared(), None)), shown


def test_the_stage_passes_and_shows_how_far_it_is(tmp_path):
    data, judgement, shown = stage(Ranked, tmp_path)
    assert judgement.verdict is StageVerdict.PASS
    assert judgement.problems == []
    assert data["taken"]["fingerprint"] == "aml-fingerprint/1"
    assert shown == sorted(shown)
    assert shown[-1] == 1.0


def test_the_stage_says_that_a_wavering_ranking_proves_little(tmp_path):
    _, judgement, _ = stage(memories.Shuffled, tmp_path)
    assert judgement.verdict is StageVerdict.PASS
    [problem] = judgement.problems
    assert not problem.counts
    assert "wavers by itself" in problem.sentence


def test_the_stage_is_incomplete_without_a_fingerprint(tmp_path):
    data, judgement, _ = stage(memories.Refusing, tmp_path)
    assert judgement.verdict is StageVerdict.INCOMPLETE
    assert data["taken"] is None
    assert "answered 422" in judgement.summary
