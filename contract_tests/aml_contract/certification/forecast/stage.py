"""The forecast stage: how long a Full would take, and what would break first."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, ClassVar

from aml_contract.certification.capacity.data import CapacityData, Traffic
from aml_contract.certification.capacity.load import Load
from aml_contract.certification.capacity.platform import GIVES_UP, Kind, Volume
from aml_contract.certification.capacity.record import Record
from aml_contract.certification.capacity.sending import Sender
from aml_contract.certification.capacity.tally import Tally
from aml_contract.certification.capacity.users import Crowd
from aml_contract.certification.forecast.data import ForecastData, Growth, Sent
from aml_contract.certification.forecast.growth import fit_of
from aml_contract.certification.forecast.judging import judgement_of
from aml_contract.certification.forecast.prediction import Measured, assumptions
from aml_contract.certification.forecast.rates import rate_of
from aml_contract.certification.stage import Basis, Context, Judgement
from aml_contract.endpoint.http import open_endpoint
from aml_contract.run import new_run_id

BUDGET = 600.0
"""Seconds that growing one user's history may take."""
_MOST_ADDS = 100


class ForecastStage:
    """How long the run of the platform would take.

    Args:
        budget: seconds that growing one user's history may take.
    """

    name: ClassVar[str] = "forecast"

    def __init__(self, budget: float = BUDGET) -> None:
        self._budget = budget

    async def measure(self, context: Context) -> dict[str, Any]:
        """Let one user's history grow, and simulate the run with what was measured.

        Raises:
            Unreachable: nothing answers there.
        """
        volume = Volume() if context.volume is None else Volume.of(context.volume)
        grown = await self._grown(context)
        capacity = context.earlier.get("capacity")
        loaded = CapacityData.model_validate(capacity.data) if capacity else None
        made = forecast(
            volume,
            grown,
            loaded,
            rate=rate_of(context.basis.declaration.rate_limits),
            track=context.settings.get("track", "textual"),
            seed=context.seed,
        )
        return made.model_dump(mode="json")

    def judge(self, data: Mapping[str, Any], basis: Basis) -> Judgement:
        """Judge how long it takes, and what gives way first."""
        del basis
        return judgement_of(ForecastData.model_validate(data))

    async def _grown(self, context: Context) -> Record:
        crowd = Crowd(context.seed, new_run_id(), self.name)
        context.say(f"one user's history grows, for {self._budget:.0f} s at most")
        target = replace(context.target, timeout=GIVES_UP)
        async with open_endpoint(target, say=context.say) as endpoint:
            record = Record(endpoint.auth.redact)
            tallies: dict[Kind, Tally] = {"add": Tally(GIVES_UP), "search": Tally(GIVES_UP)}
            load = Load(
                Sender(endpoint, tallies, context.patience), crowd, record, adds=1, searches=1
            )
            end = asyncio.get_running_loop().time() + self._budget
            chunks = itertools.islice(crowd.next().go_on(), _MOST_ADDS)
            for number, chunk in enumerate(chunks):
                context.progress(number / _MOST_ADDS)
                await load.one_by_one([chunk], end)
                if len(record.points["search"]) <= number:
                    break
        return record


def forecast(  # noqa: PLR0913  what a forecast is made from
    volume: Volume,
    grown: Record,
    loaded: CapacityData | None,
    *,
    rate: float | None,
    track: str,
    seed: int,
) -> ForecastData:
    """The forecast from what was measured.

    Args:
        volume: what is sent.
        grown: one user whose history grew, nothing else in flight.
        loaded: the declared load, if it was measured.
        rate: requests a second that declared limits allow, if they do.
        track: what the endpoint is entered for.
        seed: of the simulations.
    """
    add, search = grown.points["add"], grown.points["search"]
    load: dict[Kind, Traffic] = {"add": loaded.add, "search": loaded.search} if loaded else {}
    overhead = loaded.overhead.seconds if loaded else 0.0
    measured = Measured(load, {"add": add, "search": search}, overhead, rate)
    enough = measured.enough
    hours = measured.hours(volume, seed) if enough else None
    points = loaded.add.points if loaded else []
    busy = sum(point.seconds + point.waited for point in points)
    return ForecastData(
        volume=Sent(
            adds=volume.adds,
            users=volume.users,
            searches=volume.searches,
            longest=volume.adds_of_users[-1],
        ),
        add=Growth(points=add, fit=fit_of(add) if enough else None),
        search=Growth(points=search, fit=fit_of(search) if enough else None),
        hours=hours,
        breaks=measured.breaks(volume) if enough else [],
        rate=rate,
        limited=bool(hours and measured.least_seconds(volume) >= 3_600 * hours.low),
        waiting=round(sum(point.waited for point in points) / busy, 4) if busy else None,
        assumptions=assumptions(measured, volume, track) if enough else [],
        trouble=grown.troubles[0] if grown.troubles else None,
    )
