"""The course of a capacity measurement: alone, at full load, afterwards."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import fmean, median
from typing import NamedTuple

from aml_contract.certification.capacity.afterwards import ask_calmly, look_again
from aml_contract.certification.capacity.bounds import Side, needed
from aml_contract.certification.capacity.data import CapacityData, Memories, Throughput, Traffic
from aml_contract.certification.capacity.load import Load
from aml_contract.certification.capacity.overhead import Gauge
from aml_contract.certification.capacity.platform import Kind
from aml_contract.certification.capacity.record import Kept, Record
from aml_contract.certification.capacity.sending import Sender
from aml_contract.certification.capacity.tally import Tally
from aml_contract.certification.capacity.users import Crowd
from aml_contract.endpoint.protocol import Endpoint

_ALONE = 10
"""Adds, and Searches, that have the endpoint for themselves."""
_ALONE_SHARE, _ADD_SHARE = 0.05, 0.6
"""Parts of the budget after which they end, and after which Adds do."""
_POINTS = 400
"""Accepted requests of a kind that are kept."""
_STEPS = 60
"""Steps of the throughput, at most."""


class _Full(NamedTuple):
    """One kind, while the load was full."""

    per_second: float | None = None
    seconds: float | None = None


@dataclass
class Course:
    """One measurement at one endpoint.

    Attributes:
        endpoint: where to.
        crowd: whose Adds.
        limits: seconds that an Add and a Search may take.
        gauge: the kit's own share.
        budget: seconds that it may take.
        patience: scales every wait.
        verbatim: whether the memory returns what it was told in its own words.
        say: shows one line of progress.
        progress: shows the share that is done.
    """

    endpoint: Endpoint
    crowd: Crowd
    limits: dict[Kind, float]
    gauge: Gauge
    budget: float
    patience: float = 1.0
    verbatim: bool = True
    say: Callable[[str], None] = lambda _: None
    progress: Callable[[float], None] = lambda _: None

    def __post_init__(self) -> None:
        self.record = Record(self.endpoint.auth.redact)
        self.tallies = self._tallies()
        self._calm = Record(self.endpoint.auth.redact)
        self._full: dict[Kind, _Full] = {}
        self._mixed: dict[Kind, int] = {"add": 0, "search": 0}
        self._began = 0.0
        self._loaded = 0.0

    async def run(self) -> None:
        """Send everything, until it is clear how the endpoint bears it or time is over."""
        self._began = asyncio.get_running_loop().time()
        calmly = Sender(self.endpoint, self._tallies(), self.patience)
        reporting = asyncio.create_task(self._report())
        try:
            self.say("one Add and one Search at a time")
            alone = self._load(calmly, self._calm)
            some = itertools.islice(self.crowd.next().talk(), _ALONE)
            await alone.one_by_one(some, self._began + _ALONE_SHARE * self.budget)
            self.record.kept += self._calm.kept
            self.record.histories.update(self._calm.histories)
            self.record.troubles += self._calm.troubles
            self.record.refused = self._calm.refused
            if not self.record.troubles:
                await self._loaded_course()
        finally:
            reporting.cancel()
        for tally in self.tallies.values():
            tally.close(asyncio.get_running_loop().time())
        await ask_calmly(calmly, self.record)
        await look_again(calmly, self.record, verbatim=self.verbatim)

    async def _loaded_course(self) -> None:
        adds, searches = self.endpoint.add_concurrency, self.endpoint.search_concurrency
        load = self._load(Sender(self.endpoint, self.tallies, self.patience), self.record)
        self._loaded = asyncio.get_running_loop().time()
        end = self._began + self.budget
        async with self.gauge.watching():
            self.say(f"{adds} Adds in flight, and the Searches that follow them")
            await load.mixed(self._began + _ADD_SHARE * self.budget)
            self._mixed = {kind: len(points) for kind, points in self.record.points.items()}
            self._full["add"] = self._while_full("add", *load.full)
            kept = list(self.record.kept)
            self.say(f"{searches} Searches in flight, for {len(kept)} acknowledged Adds")
            await load.look_for(kept, end)
            self._full["search"] = self._while_full("search", *load.full)
            slow = any(tally.side is Side.OVER for tally in self.tallies.values())
            if kept and not slow and not self.record.troubles:
                await load.look_for(itertools.cycle(kept), end, until_clear=True)

    def data(self, *, texts_only: bool) -> CapacityData:
        """What was measured."""
        clear = all(tally.decided for tally in self.tallies.values())
        return CapacityData(
            add=self._traffic("add", self.endpoint.add_concurrency),
            search=self._traffic("search", self.endpoint.search_concurrency),
            memories=memories_of(self.record),
            troubles=self.record.troubles,
            overhead=self.gauge.overhead,
            throughput=self._throughput(),
            ended="trouble" if self.record.troubles else "clear" if clear else "time",
            budget=self.budget,
            verbatim=self.verbatim,
            texts_only=texts_only,
        )

    def _load(self, sender: Sender, record: Record) -> Load:
        return Load(
            sender,
            self.crowd,
            record,
            adds=self.endpoint.add_concurrency,
            searches=self.endpoint.search_concurrency,
            verbatim=self.verbatim,
        )

    def _tallies(self) -> dict[Kind, Tally]:
        return {
            kind: Tally(limit, lambda: self.gauge.overhead.seconds)
            for kind, limit in self.limits.items()
        }

    def _while_full(self, kind: Kind, began: float, ended: float) -> _Full:
        """What was accepted while as many as declared were in flight.

        The seconds are those at histories of one that had the endpoint for itself.
        """
        answered = zip(self.record.answered[kind], self.record.points[kind], strict=True)
        made = [point for at, point in answered if began <= at <= ended]
        if not made or ended <= began:
            return _Full()
        longest = max((point.history for point in self._calm.points[kind]), default=0)
        alike = [point.seconds for point in made if point.history <= longest]
        return _Full(
            round(len(made) / (ended - began), 4), round(median(alike), 6) if alike else None
        )

    def _traffic(self, kind: Kind, in_flight: int) -> Traffic:
        tally = self.tallies[kind]
        points = self.record.points[kind][: self._mixed[kind]]
        full = self._full.get(kind, _Full())
        # The very first may open connections and load models.
        alone = [point.seconds for point in self._calm.points[kind]][1:]
        return Traffic(
            in_flight=in_flight,
            accepted=len(self.record.points[kind]),
            codes=dict(sorted(tally.codes.items())),
            without_wait=tally.without_wait,
            sample=tally.sample,
            alone=round(median(alone), 6) if alone else None,
            together=full.seconds,
            per_second=full.per_second,
            points=points[:: -(-len(points) // _POINTS) or 1],
        )

    def _throughput(self) -> Throughput:
        answered = self.record.answered
        times = [at for each in answered.values() for at in each]
        span = max(times, default=self._loaded) - self._loaded
        width = max(1.0, float(-(-span // _STEPS)))
        steps = int(span / width) + 1

        def counted(each: Sequence[float]) -> list[int]:
            made = [0] * steps
            for at in each:
                made[int((at - self._loaded) / width)] += 1
            return made

        return Throughput(
            width=width, adds=counted(answered["add"]), searches=counted(answered["search"])
        )

    async def _report(self) -> None:
        loop = asyncio.get_running_loop()
        while True:
            await asyncio.sleep(1.0)
            passed = (loop.time() - self._began) / self.budget
            sizes = [min(1.0, tally.size / needed()) for tally in self.tallies.values()]
            self.progress(min(0.99, max(passed, fmean(sizes))))


def memories_of(record: Record) -> Memories:
    """What became of the Adds."""

    def having(wanted: Callable[[Kept], bool]) -> int:
        return sum(1 for kept in record.kept if wanted(kept))

    return Memories(
        acknowledged=len(record.kept),
        found=having(lambda kept: kept.found),
        late=having(lambda kept: kept.found and kept.missed > 0 and not kept.words),
        deep=having(lambda kept: kept.found and kept.words),
        lost=having(lambda kept: kept.lost),
        unseen=having(lambda kept: not kept.found and not kept.lost),
        unfinished=record.unfinished,
    )
