"""The forecast: rates, growth, and runs that were really made, most under a simulated clock."""

import asyncio
import json
import math
import random
from types import SimpleNamespace

import numpy as np
import pytest

from aml_contract.certification.capacity import CapacityData
from aml_contract.certification.capacity.platform import Volume
from aml_contract.certification.capacity.record import Point, Record
from aml_contract.certification.forecast import ForecastStage
from aml_contract.certification.forecast.data import Break, ForecastData, Hours
from aml_contract.certification.forecast.growth import fit_of
from aml_contract.certification.forecast.judging import in_time, judgement_of
from aml_contract.certification.forecast.rates import rate_of
from aml_contract.certification.forecast.stage import forecast
from aml_contract.certification.stage import StageVerdict
from aml_contract.certification.stages import STAGES
from aml_contract.endpoint.http import open_endpoint
from aml_contract.endpoint.target import Target
from tests.certification.declared import context, declared
from tests.certification.full_run import full_run
from tests.certification.loads import grown, loaded
from tests.certification.paced import Paced, Simulated, simulated
from tests.certification.test_capacity_stage import measured, paced
from tests.servers import in_process

PASS, FAIL = StageVerdict.PASS, StageVerdict.FAIL
INCONCLUSIVE, INCOMPLETE = StageVerdict.INCONCLUSIVE, StageVerdict.INCOMPLETE
HUNDREDTH = Volume.of(433)
WITHIN = 0.2
"""How far a forecast may be from a run."""


# -- rate limits in words ------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "rate"),
    [
        ("600 requests a minute", 10.0),
        ("10/s", 10.0),
        ("1,000 requests per hour and 5 per second", 1_000 / 3_600),
        ("3k req/min", 50.0),
        ("1.5 requests per second", 1.5),
        ("100 Adds and Searches per minute", 100 / 60),
        ("none", None),
        ("", None),
        ("16 in flight", None),
        ("0 per second", None),
    ],
)
def test_declared_rates_are_read(words, rate):
    assert rate_of(words) == (rate if rate is None else pytest.approx(rate))


# -- growth --------------------------------------------------------------------------------


def grows(form, noise=0.1, count=60, seed=1):
    chance = random.Random(seed)
    return [
        Point(history=n, seconds=form(n) * chance.lognormvariate(0, noise), waited=0)
        for n in range(count)
    ]


@pytest.mark.parametrize(
    ("form", "function"),
    [
        ("constant", lambda _: 1.0),
        ("linear", lambda n: 1.0 + 0.1 * n),
        ("log", lambda n: 1.0 + math.log1p(n)),
    ],
)
def test_the_form_of_a_growth_is_seen(form, function):
    found = fit_of(grows(function))
    assert found.form == form
    histories = np.array([10.0, 30.0, 60.0, 100.0])
    assert found.at(histories) == pytest.approx(np.vectorize(function)(histories), rel=0.15)


def test_slow_first_requests_and_one_that_hangs_are_no_growth():
    points = grows(lambda _: 1.0)
    points[0].seconds = points[1].seconds = 30.0
    points[50].seconds = 200.0
    assert fit_of(points).form == "constant"


def test_nothing_gets_faster_with_a_history():
    found = fit_of(grows(lambda n: 2.0 - 0.02 * n))
    assert (found.form, found.slope) == ("constant", 0.0)


# -- whole runs ----------------------------------------------------------------------------

MEMORIES = {
    "constant": {"add": 1.0, "search": 0.2},
    "varying": {"add": 1.0, "search": 0.2, "spread": 0.4},
    "growing": {"add": 0.5, "search": 0.2, "spread": 0.2, "growth": 0.05},
    "a quarter": {"add": 0.5, "search": 0.1, "at_once": 4},
    "slow searches": {"add": 0.2, "search": 5.0, "spread": 0.2},
}


def foreseen(volume, how, **changes):
    data = loaded(limits=(90, 90), **how)
    given = {"rate": None, "track": "textual", "seed": 1} | changes
    return forecast(volume, grown(**how), data, **given)


@pytest.mark.parametrize("name", MEMORIES)
def test_a_hundredth_of_a_full_takes_as_long_as_foreseen(name):
    how = MEMORIES[name]
    made = foreseen(HUNDREDTH, how)
    seconds = [
        simulated(full_run(Simulated(Paced(**how, seed=seed)), HUNDREDTH, seed))
        for seed in range(5)
    ]
    for took in seconds:
        assert made.hours.mid * 3_600 == pytest.approx(took, rel=WITHIN), (made.hours, seconds)


def test_what_is_sent_away_costs_as_long_as_it_waits():
    how = {"add": 0.5, "search": 0.05, "at_once": 14, "busy": 503}
    made = foreseen(HUNDREDTH, how)
    assert made.waiting > 0
    took = simulated(full_run(Simulated(Paced(**how)), HUNDREDTH, 1))
    assert made.hours.mid * 3_600 == pytest.approx(took, rel=WITHIN)


def test_a_forecast_is_the_same_for_the_same_seed():
    how = MEMORIES["varying"]
    assert foreseen(HUNDREDTH, how) == foreseen(HUNDREDTH, how)


def test_a_full_is_foreseen_with_what_it_rests_on():
    made = foreseen(Volume(), MEMORIES["growing"], track="coding")
    assert made.hours.low < made.hours.mid < made.hours.high
    assert made.add.fit.form == "linear"
    words = " ".join(made.assumptions)
    assert "Histories of more than 60 Adds were not measured" in words
    assert "as none of coding is known" in words
    judgement = judgement_of(ForecastData.model_validate_json(made.model_dump_json()))
    assert judgement.verdict is PASS
    assert "A run of 43,272 Adds, 1,580 users and 10,144 Searches takes about" in judgement.summary


def test_a_declared_rate_makes_it_longer():
    made = foreseen(HUNDREDTH, MEMORIES["constant"], rate=1.0)
    assert made.hours.low * 3_600 == pytest.approx(433 + 102, rel=0.01)
    assert made.limited
    assert "declared rate limit" in said(made)


def test_what_grows_too_slow_is_said_before_it_breaks():
    how = {"add": 20.0, "search": 0.2, "growth": 0.2}
    made = foreseen(Volume(), how)
    (proxy,) = [one for one in made.breaks if one.what == "proxy"]
    assert proxy.operation == "add"
    assert 15 <= proxy.history <= 25  # 20 s · (1 + 0.2 · 20) = 100 s
    assert proxy.measured
    assert "after which proxies cut" in said(made)


def test_too_little_to_forecast_from_is_incomplete():
    made = forecast(HUNDREDTH, Record(), None, rate=None, track="textual", seed=1)
    judgement = judgement_of(made)
    assert judgement.verdict is INCOMPLETE
    assert "too few requests were accepted" in judgement.summary


def said(made):
    return "\n".join(problem.sentence for problem in judgement_of(made).problems)


# -- verdicts ------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def quick():
    return foreseen(HUNDREDTH, MEMORIES["constant"])


@pytest.mark.parametrize(
    ("hours", "verdict"),
    [
        ((20, 30, 50), PASS),
        ((200, 230, 300), PASS),
        ((260, 300, 400), INCONCLUSIVE),
        ((500, 700, 800), INCONCLUSIVE),
        ((730, 800, 900), FAIL),
    ],
)
def test_a_run_that_takes_weeks_is_no_pass(quick, hours, verdict):
    low, mid, high = hours
    made = quick.model_copy(update={"hours": Hours(low=low, mid=mid, high=high)})
    assert judgement_of(made).verdict is verdict


def test_requests_that_would_be_given_up_leave_it_open(quick):
    one = Break(what="platform", operation="add", history=99, share=0.02, measured=False)
    judgement = judgement_of(quick.model_copy(update={"breaks": [one]}))
    assert judgement.verdict is INCONCLUSIVE
    assert "From 99 Adds of a user on, one Add in a hundred takes longer than 30 minutes" in (
        judgement.summary
    )


@pytest.mark.parametrize(
    ("hours", "words"),
    [(0.001, "0.1 minutes"), (1 / 60, "1 minute"), (0.67, "40 minutes"), (1.0, "1 hour"),
     (31.4, "31 hours"), (290, "12 days")],
)  # fmt: skip
def test_times_are_said_as_people_say_them(hours, words):
    assert in_time(hours) == words


# -- the stage -----------------------------------------------------------------------------


def test_the_stage_measures_growth_at_a_real_server_and_foresees():
    with in_process(paced(add=0.01, search=0.01)) as server:
        capacity, basis = measured(server.url, budget=4.0)
        within = context(declared(), url=server.url)
        within.earlier = {"capacity": SimpleNamespace(data=capacity)}
        within.volume = 433
        data = json.loads(json.dumps(asyncio.run(ForecastStage(20.0).measure(within))))
    judgement = STAGES["forecast"].judge(data, basis)
    assert judgement.verdict is PASS, judgement
    made = ForecastData.model_validate(data)
    assert made.volume.adds == 433
    assert [point.history for point in made.add.points] == list(range(len(made.add.points)))
    assert made.trouble is None


def test_an_endpoint_that_refuses_gives_no_forecast():
    with in_process(paced(dies=1)) as server:
        within = context(declared(), url=server.url)
        within.patience = 0.001
        data = asyncio.run(ForecastStage(5.0).measure(within))
    judgement = STAGES["forecast"].judge(data, None)
    assert judgement.verdict is INCOMPLETE
    assert "of a growing history was answered 503" in judgement.summary


def foreseen_and_real(add):
    """Hours that are foreseen and seconds that a run took, at a real server; the kit's share."""
    with in_process(paced(add=add, search=add / 5, spread=0.3)) as server:
        capacity, _ = measured(server.url, budget=240 * add)
        within = context(declared(), url=server.url)
        within.earlier = {"capacity": SimpleNamespace(data=capacity)}
        within.volume = HUNDREDTH.adds
        data = asyncio.run(ForecastStage(60 * add).measure(within))

        async def run():
            async with open_endpoint(Target(url=server.url, concurrency=32)) as endpoint:
                return await full_run(endpoint, HUNDREDTH, 1)

        took = asyncio.run(run())
    kit = CapacityData.model_validate(capacity).overhead.seconds
    return ForecastData.model_validate(data).hours, took, kit


@pytest.mark.slow
@pytest.mark.timeout(7_200)
def test_a_real_run_takes_as_long_as_foreseen():
    """A hundredth of a Full at a real server: this tests the scheduling, no extrapolation."""
    for add in (0.5, 4.0):
        hours, took, kit = foreseen_and_real(add)
        print(f"foreseen {hours}, it took {took / 3_600:.4f} hours; the kit {kit:.3f} s")
        if kit < add / 4:
            assert hours.mid * 3_600 == pytest.approx(took, rel=WITHIN)
            return
    pytest.skip(f"the machine is too busy: the kit itself takes {kit:.2f} s")
