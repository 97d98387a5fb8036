"""A timeline: one slot of one user, what was true of it, and what Search returned first."""

from __future__ import annotations

from typing import Literal

from aml_contract.documented import Documented
from aml_contract.probe.asking import Record
from aml_contract.probe.metrics import View, views
from aml_contract.probe.names import Name
from aml_contract.probe.world import Mode, World

SHOWN = 5
"""Mentions that are shown of each reply."""
_AMONG = 10

State = Literal["current", "superseded", "other", "temporary", "plan"]


class Mention(Documented):
    """A value in a reply."""

    rank: int
    """Of its item, from 1."""
    name: str
    state: State
    """What it is at the end of that period."""


class Moment(Documented):
    """The end of one period."""

    period: int
    current: str
    """The value that is true."""
    changed: bool
    """Whether it became so in this period."""
    shown: list[Mention]
    """The first mentions of the slot's values, in the order of the reply."""
    outdated_first: bool


class Timeline(Documented):
    """One slot through all periods, chosen for what happened to it: most often outdated first."""

    user: int
    slot: str
    question: str
    moments: list[Moment]


def timeline(world: World, record: Record, mode: Mode) -> Timeline | None:
    """The slot whose outdated values came first most often; of several the first user's."""
    found: dict[tuple[int, int], list[View]] = {}
    for view in views(world, (each for each in record.asked if each.question.mode == mode)):
        found.setdefault((view.user.number, view.slot), []).append(view)
    if not found:
        return None
    user, slot = max(found, key=lambda key: (sum(map(_outdated, found[key])), -key[0], -key[1]))
    question = next(
        each.question.text
        for each in record.asked
        if each.question.mode == mode and each.user == user and slot in each.question.slots
    )
    moments = [_moment(view) for view in found[user, slot]]
    name = world.language.slots[slot].name
    return Timeline(user=user, slot=name, question=question, moments=moments)


def _outdated(view: View) -> bool:
    current, stale = view.current, view.stale
    return stale is not None and stale <= _AMONG and (current is None or stale < current)


def _moment(view: View) -> Moment:
    user, period, slot = view.user, view.period, view.slot
    current = user.name(slot, user.current(period, slot))
    mentioned: dict[Name, int] = {}
    for rank, item in enumerate(view.reply.items, 1):
        for name in item.names:
            if (name.user, name.slot) == (user.number, slot):
                mentioned.setdefault(name, rank)
    shown = [
        Mention(rank=rank, name=name.word, state=_state(name, current))
        for name, rank in list(mentioned.items())[:SHOWN]
    ]
    return Moment(
        period=period,
        current=current.word,
        changed=user.evidence(period, slot).period == period,
        shown=shown,
        outdated_first=_outdated(view),
    )


def _state(name: Name, current: Name) -> State:
    if name.kind != "value":
        return name.kind
    return "current" if name == current else "superseded"
