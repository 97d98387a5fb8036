"""Users that never were: legal, mixed, and the same for the same seed."""

import itertools
import json

from aml_contract.certification.capacity.platform import Volume
from aml_contract.certification.capacity.users import Crowd
from aml_contract.smoke.chunking import count_words


def chunks_of(seed=1, salt="run", users=12):
    crowd = Crowd(seed, salt, "capacity")
    return [chunk for _ in range(users) for chunk in crowd.next().talk()]


def test_chunks_are_cut_as_the_platform_cuts():
    for chunk in chunks_of():
        texts = [message["content"] for message in chunk.body["messages"]]
        assert 1 <= len(texts) <= 20
        assert all(0 < len(text) <= 8_000 for text in texts)
        assert sum(map(count_words, texts)) <= 2_000 or len(texts) == 1
        assert json.loads(chunk.data) == chunk.body
        assert {m["role"] for m in chunk.body["messages"]} == {"user"}


def test_each_add_holds_one_canary_that_no_other_has():
    made = chunks_of()
    everything = [m["content"] for chunk in made for m in chunk.body["messages"]]
    for chunk in made:
        assert sum(chunk.canary.text in text for text in everything) == 1
        assert any(chunk.canary.text in m["content"] for m in chunk.body["messages"])


def test_sizes_and_scripts_are_mixed():
    made = chunks_of()
    sizes = {len(chunk.body["messages"]) for chunk in made}
    assert {20} < sizes
    text = "".join(m["content"] for chunk in made for m in chunk.body["messages"])
    assert any("\u4e00" <= letter <= "\u9fff" for letter in text)
    assert any("\u3040" <= letter <= "\u30ff" for letter in text)
    assert max(len(m["content"]) for chunk in made for m in chunk.body["messages"]) > 3_000


def test_a_user_says_the_same_for_the_same_seed_whoever_talks_meanwhile():
    alone = [chunk.data for chunk in chunks_of(users=2)]
    crowd = Crowd(1, "run", "capacity")
    first, second = crowd.next().talk(), crowd.next().talk()
    beside = [c for pair in itertools.zip_longest(first, second) for c in pair if c]
    assert sorted(alone) == sorted(chunk.data for chunk in beside)
    assert {c.user_id for c in chunks_of(salt="other")}.isdisjoint(c.user_id for c in beside)
    assert chunks_of(seed=2, users=1)[0].data != alone[0]


def test_searches_that_follow_are_41_of_100_of_all():
    made = chunks_of(users=60)
    early = sum(chunk.asks is not None for chunk in made)
    assert 0.37 < early / (early + len(made)) < 0.45
    assert all(0 <= chunk.asks <= chunk.history for chunk in made if chunk.asks is not None)


def test_a_history_that_grows_does_so_in_even_steps():
    made = list(itertools.islice(Crowd(1, "run", "forecast").next().go_on(), 30))
    assert len({chunk.user_id for chunk in made}) == 1
    assert [chunk.history for chunk in made] == list(range(30))
    sizes = [len(chunk.data) for chunk in made]
    assert max(sizes) < 1.1 * min(sizes)


def test_a_volume_is_shared_out_whole():
    full = Volume()
    assert (full.adds, full.users, full.searches) == (43_272, 1_580, 10_144)
    for volume in (full, Volume.of(433), Volume.of(1), Volume(7, 7, 1)):
        assert sum(volume.adds_of_users) == volume.adds
        assert min(volume.adds_of_users) >= 1
        assert len(volume.adds_of_users) == volume.users
        assert sum(volume.searches_of_users) == volume.searches
    assert Volume.of(433) == Volume(433, 16, 102)
