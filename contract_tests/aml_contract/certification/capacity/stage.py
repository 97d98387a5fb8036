"""The capacity stage: the declared load, as the platform keeps it, for as long as it takes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, ClassVar

from aml_contract.certification.capacity.course import Course
from aml_contract.certification.capacity.data import CapacityData
from aml_contract.certification.capacity.judging import judgement_of
from aml_contract.certification.capacity.overhead import gauge
from aml_contract.certification.capacity.platform import GIVES_UP, limit_of
from aml_contract.certification.capacity.users import Crowd
from aml_contract.certification.stage import Basis, Context, Judgement
from aml_contract.endpoint.http import Unreachable, open_endpoint, unreachable_message
from aml_contract.rule import Capability
from aml_contract.run import new_run_id

BUDGET = 7_200.0
"""Seconds that the stage may take: enough for 600 Adds of 90 s, 16 in flight."""


class CapacityStage:
    """Whether the endpoint bears the load that it declares.

    Args:
        budget: seconds that it may take; it takes less as soon as it is clear.
    """

    name: ClassVar[str] = "capacity"

    def __init__(self, budget: float = BUDGET) -> None:
        self._budget = budget

    async def measure(self, context: Context) -> dict[str, Any]:
        """Load the endpoint as declared, then look for what it has acknowledged.

        Raises:
            Unreachable: nothing answers there, or nothing does any more, and whether the
                endpoint or a network is at fault cannot be told.
        """
        declared = context.basis.declaration
        # Ids of its own in each sitting: an Add that is sent twice would be answered too fast.
        crowd = Crowd(context.seed, new_run_id(), self.name)
        target = replace(context.target, timeout=GIVES_UP)
        async with open_endpoint(target, say=context.say) as endpoint:
            course = Course(
                endpoint,
                crowd,
                {
                    "add": limit_of(declared.add_timeout),
                    "search": limit_of(declared.search_timeout),
                },
                await gauge(next(crowd.next().talk()).data, endpoint.add_concurrency),
                self._budget,
                patience=context.patience,
                verbatim=Capability.VERBATIM.value not in context.settings.get("without", ()),
                say=context.say,
                progress=context.progress,
            )
            await course.run()
            if any(trouble.lost_touch for trouble in course.record.troubles) and (
                words := await endpoint.answers()
            ):
                raise Unreachable(unreachable_message(endpoint, words))
        data = course.data(texts_only=context.settings.get("track", "textual") == "multimodal")
        return data.model_dump(mode="json")

    def judge(self, data: Mapping[str, Any], basis: Basis) -> Judgement:
        """Judge the latencies, what was lost and what was refused."""
        return judgement_of(CapacityData.model_validate(data), basis)
