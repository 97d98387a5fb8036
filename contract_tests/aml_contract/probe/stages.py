"""Stages: where a value was lost on its way from an Add to an answer; their shares sum to one."""

from __future__ import annotations

from typing import Literal

from aml_contract.probe.asking import Place, Record

Stage = Literal["ok", "resolved_wrong", "crowded", "lost", "late", "write"]
STAGES: tuple[Stage, ...] = ("ok", "resolved_wrong", "crowded", "lost", "late", "write")


def stage_of(record: Record, place: Place, *, tenure: range, chosen: bool | None) -> Stage:
    """The stage of a value at the end of a period.

    ``ok``: it came back and the reader takes it. ``resolved_wrong``: it came back, the reader
    takes another. Of what did not come back: ``crowded`` is still found by its own words;
    ``lost`` is not, though it was before; ``late`` was not found before, and is in a later
    period; ``write`` never was.

    Args:
        record: what was seen.
        place: whose value, after which period, of what.
        tenure: the periods at whose end the slot has this value, told in the first of them.
        chosen: whether the reader takes the value; ``None`` if it did not come back.
    """
    if chosen is not None:
        return "ok" if chosen else "resolved_wrong"
    found = {at for at in tenure if record.still.get(place._replace(period=at))}
    if place.period in found:
        return "crowded"
    at_once = record.visible.get(place._replace(period=tenure.start))
    if at_once or any(period < place.period for period in found):
        return "lost"
    return "late" if found else "write"
