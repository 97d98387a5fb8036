"""Scoring: from what a course saw to the figures of a document."""

from __future__ import annotations

from collections.abc import Sequence

from aml_contract.probe.asking import Asked, Record
from aml_contract.probe.contents import of_contents
from aml_contract.probe.document import Point, System
from aml_contract.probe.metrics import DEPTHS, at_depth
from aml_contract.probe.world import Mode, World

CURVES = 10
"""Number of first items that curves over periods are of."""


def score(world: World, record: Record, modes: Sequence[Mode]) -> System:
    """All figures of one memory."""
    return System(
        modes={
            mode: {among: at_depth(world, record, mode, among).figures() for among in DEPTHS}
            for mode in modes
        },
        whole=of_contents(world, record).figures(),
        periods={mode: list(_points(world, record, mode)) for mode in modes},
        foreign_users=len(record.foreign),
    )


def _points(world: World, record: Record, mode: Mode) -> Sequence[Point]:
    made = []
    for period in range(world.parameters.periods + 1):
        asked = [each for each in record.asked if each.period == period]
        tally = at_depth(world, _only(record, asked), mode, CURVES)
        hit, stale = tally.figure("hit"), tally.figure("stale_first")
        if hit:
            made.append(
                Point(period=period, hit=hit.value, stale_first=stale.value if stale else None)
            )
    return made


def _only(record: Record, asked: list[Asked]) -> Record:
    return Record(visible=record.visible, asked=asked, still=record.still)
