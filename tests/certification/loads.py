"""Capacity measured on memories whose delays are known, under a simulated clock."""

import itertools

from aml_contract.body import dump
from aml_contract.certification.capacity.course import Course
from aml_contract.certification.capacity.data import CapacityData
from aml_contract.certification.capacity.judging import judgement_of
from aml_contract.certification.capacity.load import Load
from aml_contract.certification.capacity.overhead import Gauge
from aml_contract.certification.capacity.record import Record
from aml_contract.certification.capacity.sending import Sender
from aml_contract.certification.capacity.tally import Tally
from aml_contract.certification.capacity.users import Chunk, Crowd
from aml_contract.certification.stage import Basis
from aml_contract.namespace import Namespace
from tests.certification.declared import declared
from tests.certification.paced import Paced, Simulated, simulated

LIMIT = 0.5
"""Seconds that an Add or a Search may take."""
OVERHEAD = 0.001


class Terse:
    """A crowd whose Adds are a single sentence: quick to make.

    Args:
        seed: chooses it.
        asks: the share of Adds that a Search follows at once.
    """

    def __init__(self, seed=1, asks=0.7):
        self._ns = Namespace(seed, "run", "terse")
        self._asks = asks

    def next(self):
        return self

    def talk(self):
        user, session, chance = self._ns.user(), self._ns.session(), self._ns.random
        for history in range(1 + int(chance.expovariate(1 / 26))):
            canary = self._ns.marker()
            body = {
                "request_id": self._ns.request(),
                "user_id": user,
                "session_id": session,
                "messages": [{"role": "user", "content": canary.text, "timestamp": 0}],
            }
            asks = chance.randint(0, history) if chance.random() < self._asks else None
            yield Chunk(body, dump(body), canary, history, asks)


def course(memory, *, crowd=None, budget=3_600.0, limits=(LIMIT, LIMIT), adds=16, **how):
    """A capacity measurement that has run to its end, and its endpoint."""
    endpoint = Simulated(memory, adds=adds)

    async def go():
        made = Course(
            endpoint,
            crowd or Terse(),
            {"add": limits[0], "search": limits[1]},
            Gauge(OVERHEAD, 2_000),
            budget,
            **how,
        )
        await made.run()
        return made

    return simulated(go()), endpoint


def loaded(*, crowd=None, budget=3_600.0, limits=(LIMIT, LIMIT), verbatim=True, adds=16, **how):
    """What a capacity measurement of such a memory comes to."""
    made, _ = course(
        Paced(**how), crowd=crowd, budget=budget, limits=limits, verbatim=verbatim, adds=adds
    )
    return made.data(texts_only=False)


def judged(data, **changes):
    """The judgement of it, as whoever verifies a certificate derives it."""
    stated = {
        "add_concurrency": 16,
        "search_concurrency": 16,
        "add_timeout": LIMIT,
        "search_timeout": LIMIT,
    } | changes
    again = CapacityData.model_validate_json(data.model_dump_json())
    return judgement_of(again, Basis(declared(**stated), None))


def said(judgement):
    """All its problems and remarks in one text."""
    return "\n".join(problem.sentence for problem in judgement.problems)


def grown(adds=60, **how):
    """The record of one user whose history grows, nothing else in flight."""

    async def go():
        record = Record()
        tallies = {"add": Tally(1_800), "search": Tally(1_800)}
        sender = Sender(Simulated(Paced(**how)), tallies, 1.0)
        crowd = Crowd(1, "run", "forecast")
        load = Load(sender, crowd, record, adds=1, searches=1)
        await load.one_by_one(itertools.islice(crowd.next().go_on(), adds), 1e9)
        return record

    return simulated(go())
