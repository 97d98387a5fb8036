"""How often the latency verdict is right where the delays are known.

The 99th percentile of the delays is a fifth under the limit or a fifth over it; a verdict is
wrong if it is the other one, and also if it is none. The limit is half a second under a
simulated clock, where nothing but the scheduling and the statistics can be at fault. On a real
server it is two seconds, or twelve where the machine is busy, not ninety: what grows with the
limit is the time that a run takes, not what there is to tell apart, and the kit's own share is
a smaller part of ninety.
"""

import math

import pytest

from aml_contract.certification.capacity.bounds import Side
from aml_contract.certification.capacity.load import Load
from aml_contract.certification.capacity.record import Record
from aml_contract.certification.capacity.sending import Sender
from aml_contract.certification.capacity.stage import BUDGET
from aml_contract.certification.capacity.tally import Tally
from aml_contract.certification.stage import StageVerdict
from aml_contract.certification.stages import STAGES
from tests.certification.loads import LIMIT, Terse
from tests.certification.paced import Paced, Simulated, simulated
from tests.certification.test_capacity_stage import measured, paced
from tests.servers import in_process

RUNS, REAL_RUNS = 100, 3
QUIET, BUSY = 2.0, 12.0
"""Limits on a real server: the kit's own share may be a tenth of one."""
MOST_WRONG = 5
SPREADS = [0.0, 0.25, 0.5]
"""The sigma of the log-normal distribution of delays: none, usual, and a long tail."""
SIDES = [(0.8, Side.UNDER), (1.2, Side.OVER)]


def median_for(p99, spread):
    """The median of delays whose 99th percentile is this."""
    return p99 / math.exp(2.3263478740 * spread)


def side_of(seed, add, spread):
    """What the latencies of one run come to."""

    async def go():
        tallies = {"add": Tally(LIMIT), "search": Tally(LIMIT)}
        sender = Sender(Simulated(Paced(add=add, spread=spread, seed=seed)), tallies, 1.0)
        load = Load(sender, Terse(seed, asks=0), Record(), adds=16, searches=16)
        await load.mixed(BUDGET)
        tallies["add"].close(0.0)
        return tallies["add"].side

    return simulated(go())


@pytest.mark.slow
@pytest.mark.timeout(3_600)
@pytest.mark.parametrize("spread", SPREADS)
@pytest.mark.parametrize(("factor", "right"), SIDES)
def test_a_fifth_off_the_limit_the_verdict_is_right(factor, right, spread):
    add = median_for(factor * LIMIT, spread)
    sides = [side_of(seed, add, spread) for seed in range(RUNS)]
    assert sides.count(right) >= RUNS - MOST_WRONG, sides


@pytest.mark.parametrize(("factor", "right"), SIDES)
def test_some_runs_of_that(factor, right):
    add = median_for(factor * LIMIT, 0.25)
    assert [side_of(seed, add, 0.25) for seed in range(3)] == [right] * 3


def real_verdicts(limit, factor):
    """The verdicts of some runs at real servers; ``None`` if the kit itself is too slow."""
    verdicts = []
    for seed in range(REAL_RUNS):
        add = median_for(factor * limit, 0.25)
        command = paced(add=add, search=0.02 * limit, spread=0.25, seed=seed)
        with in_process(command) as server:
            data, basis = measured(server.url, limit=limit, budget=3_600)
        if sum(data["overhead"][name] for name in ("floor", "lag")) > 0.1 * limit:
            return None
        verdicts.append(STAGES["capacity"].judge(data, basis).verdict)
    return verdicts


@pytest.mark.slow
@pytest.mark.timeout(7_200)
@pytest.mark.parametrize(("factor", "right"), [(0.8, StageVerdict.PASS), (1.2, StageVerdict.FAIL)])
def test_on_a_real_server_it_is_right_too(factor, right):
    verdicts = real_verdicts(QUIET, factor) or real_verdicts(BUSY, factor)
    if verdicts is None:
        pytest.skip(f"the machine is too busy for a limit of {BUSY:.0f} s")
    assert verdicts == [right] * REAL_RUNS
