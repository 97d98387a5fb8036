"""Bounds of percentiles by ranks, and the tally that they are taken from."""

import random

import pytest
from scipy.stats import binom

from aml_contract.certification.capacity import bounds
from aml_contract.certification.capacity.bounds import DOUBT, LOOKS, Sample, Side, sample_of
from aml_contract.certification.capacity.tally import Tally
from aml_contract.exchange import Exchange


@pytest.mark.parametrize("share", [0.5, 0.95, 0.99])
@pytest.mark.parametrize("count", [1, 60, 459, 596, 597, 1_500, 4_000])
def test_ranks_are_the_closest_that_are_wrong_seldom_enough(count, share):
    low, high = bounds.ranks(count, share)
    if low is None:
        assert binom.cdf(0, count, share) > DOUBT
    else:
        assert binom.cdf(low - 1, count, share) <= DOUBT < binom.cdf(low, count, share)
    if high is None:
        assert binom.sf(count - 1, count, share) > DOUBT
    else:
        assert binom.sf(high - 1, count, share) <= DOUBT < binom.sf(high - 2, count, share)


def test_an_upper_bound_takes_as_many_as_it_says():
    assert bounds.needed(doubt=0.01) == 459
    assert bounds.needed() == 597
    assert bounds.ranks(596, 0.99)[1] is None
    assert bounds.ranks(597, 0.99)[1] == 597
    assert LOOKS[1] >= bounds.needed()


@pytest.mark.parametrize("count", [1, 2, 59, 60, 600, 4_000])
def test_a_sample_is_judged_by_what_is_kept_of_it(count):
    chance = random.Random(count)
    sample = sample_of([chance.lognormvariate(0, 1) for _ in range(count)])
    again = Sample.model_validate_json(sample.model_dump_json())
    assert again.judged == sample.p99
    assert len(again.slowest) <= 6 + count // 60
    assert again.slowest == sorted(again.slowest, reverse=True)


def test_nothing_has_no_sample():
    assert sample_of([]) is None


def test_to_be_too_slow_it_must_be_so_without_the_kit():
    p99 = sample_of([1.0] * 600).judged
    assert p99.against(1.1) is Side.UNDER
    assert p99.against(0.95) is Side.OVER
    assert p99.against(0.95, overhead=0.1) is Side.OPEN
    assert p99.against(1.1, overhead=0.5) is Side.UNDER


# -- tallies -------------------------------------------------------------------------------


def answer(status=200, **headers):
    headers = {name.replace("_", "-"): value for name, value in headers.items()}
    return Exchange("add", "POST", "http://memory.example", {}, b"", status, headers, b"", 0, 0)


def fed(tally, times, status=200):
    """One request after the other, each as long as its time."""
    now = 0.0
    for seconds in times:
        attempt = tally.begin(now)
        now += seconds
        tally.end(attempt, answer(status), now)
    return now


def test_what_began_first_counts_first_though_others_are_answered_sooner():
    tally = Tally(limit=10)
    hangs = tally.begin(0.0)
    for _ in range(100):
        tally.end(tally.begin(1.0), answer(), 1.1)
    assert not tally.look(5.0)
    assert tally.size == 0
    tally.end(hangs, answer(), 6.0)
    tally.look(6.0)
    assert tally.size == 101
    assert tally.sample.count == LOOKS[0]
    assert tally.sample.slowest[0] == 6.0


def test_a_request_that_hangs_counts_as_soon_as_it_is_late():
    tally = Tally(limit=10)
    for _ in range(60):
        tally.begin(0.0)
    assert not tally.look(10.0)
    assert tally.look(10.5)
    assert tally.side is Side.OVER
    assert not tally.codes


def test_fast_refusals_do_not_make_slow_answers_rare():
    tally = Tally(limit=1)
    fed(tally, [0.001] * 5_000, status=429)
    fed(tally, [2.0] * 60)
    tally.look(1e6)
    assert tally.side is Side.OVER
    assert tally.sample.count == 60
    assert (tally.codes["429"], tally.without_wait) == (5_000, 5_000)


def test_an_answer_of_a_gateway_that_gave_up_late_is_a_late_one():
    tally = Tally(limit=90)
    fed(tally, [100.0] * 60, status=524)
    tally.look(1e6)
    assert tally.side is Side.OVER


def test_looks_are_at_fixed_numbers_and_what_comes_later_changes_nothing():
    tally = Tally(limit=1)
    fed(tally, [0.5] * (LOOKS[1] - 1))
    assert not tally.look(1e6)
    assert tally.sample.count == LOOKS[0]
    fed(tally, [0.5])
    assert tally.look(1e6)
    assert (tally.side, tally.sample.count) == (Side.UNDER, LOOKS[1])
    fed(tally, [5.0] * 500)
    tally.close(1e6)
    assert (tally.side, tally.sample.count) == (Side.UNDER, LOOKS[1])


def test_the_last_look_is_when_time_is_over():
    tally = Tally(limit=1)
    fed(tally, [3.0] * 2 + [0.5] * 700)
    assert not tally.look(1e6)
    tally.close(1e6)
    assert (tally.side, tally.sample.count) == (Side.OPEN, 702)


def test_it_is_not_looked_at_again_and_again():
    tally = Tally(limit=1)
    chance = random.Random(1)
    fed(tally, [2.0 if chance.random() < 0.01 else 0.5 for _ in range(LOOKS[-1])])
    assert tally.look(1e6)
    assert tally.side is Side.OPEN
    fed(tally, [0.5] * 5_000)
    tally.close(1e6)
    assert tally.sample.count == LOOKS[-1]


def test_what_the_kit_cuts_off_too_soon_says_nothing():
    tally = Tally(limit=10)
    tally.cut_off(tally.begin(0.0), 5.0)
    tally.cut_off(tally.begin(0.0), 15.0)
    tally.close(20.0)
    assert tally.sample.count == 1
    assert not tally.codes
