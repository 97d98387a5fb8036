"""The guard: no figure is given that cannot be trusted.

A probe whose labels reach the memory measures nothing, and one whose controls are off neither.
Both are errors of the kit, never the endpoint's.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import accumulate
from typing import Any

from aml_contract.probe.asking import Record
from aml_contract.probe.chance import SURE, band, hit
from aml_contract.probe.memory import Memory
from aml_contract.probe.metrics import View, at_depth, views
from aml_contract.probe.names import Name
from aml_contract.probe.reply import Item
from aml_contract.probe.world import Mode, User, World

_DEPTHS = (10, 100)
"""Numbers of first items among which chance is looked at."""
_PERFECT = ("hit", "all", "memory_top", "memory_latest", "memory_vote")
_LABEL = re.compile(r"\b(?:slot|value|gold|current|superseded)\w*\s*[=:]|=\s*\w", re.IGNORECASE)
"""How programs write what is true: ``slot=gym``, ``current: …``, ``gym=Halmere``."""


class NotTrustedError(Exception):
    """Why no figure is given: an error of the kit."""


class Guarded:
    """A memory that is sent no label of what is true, as two known probes sent them."""

    def __init__(self, memory: Memory) -> None:
        self._memory = memory

    async def add(self, body: dict[str, Any]) -> None:
        """Send an Add.

        Raises:
            NotTrustedError: a label is in one of its messages or ids.
        """
        texts = [message["content"] for message in body["messages"]]
        for text in (*texts, body["session_id"], body["request_id"]):
            if label := _LABEL.search(text):
                raise NotTrustedError(f"an Add holds the label {label.group()!r}, so memories know")
        await self._memory.add(body)

    async def search(self, body: dict[str, Any]) -> Sequence[Item]:
        """Send a Search."""
        return await self._memory.search(body)


def check_controls(world: World, records: Mapping[str, Record], modes: Sequence[Mode]) -> None:
    """See that the oracle finds everything, and that chance finds what it must.

    Raises:
        NotTrustedError: it is not so.
    """
    for mode in modes:
        _check_oracle(world, records["oracle"], mode)
        for among in _DEPTHS:
            _check_chance(world, records["random"], mode, among, 2 * len(modes))


def _check_oracle(world: World, record: Record, mode: Mode) -> None:
    tally = at_depth(world, record, mode, _DEPTHS[0])
    for metric in _PERFECT:
        figure = tally.figure(metric)
        if figure is None or figure.value != 1.0:
            told = "nothing" if figure is None else f"{figure.value}"
            raise NotTrustedError(f"the oracle's {metric} is {told} for {mode} questions, not 1")


def _check_chance(world: World, record: Record, mode: Mode, among: int, bands: int) -> None:
    """All bands together hold ``SURE`` of all shuffles (Bonferroni)."""
    seen = views(world, (each for each in record.asked if each.question.mode == mode))
    found = sum(view.current is not None and view.current <= among for view in seen)
    messages = [_messages(user) for user in world.users]
    mentioning = _mentioning(world)
    likely = [
        hit(messages[view.user.number][view.period], mentioning[_true(view), view.period], among)
        for view in seen
    ]
    low, high = band(likely, 1 - (1 - SURE) / bands)
    if not low <= found <= high:
        raise NotTrustedError(
            f"chance found {found} values among {among} items for {mode} questions, "
            f"and should find {low} to {high}; see whether it does with another --seed"
        )


def _true(view: View) -> Name:
    return view.user.name(view.slot, view.user.current(view.period, view.slot))


def _messages(user: User) -> list[int]:
    """Messages of a user up to the end of each period."""
    return list(accumulate(sum(len(each.messages) for each in told) for told in user.sessions))


def _mentioning(world: World) -> Counter[tuple[Name, int]]:
    """How many messages mention a name up to the end of each period."""
    counted: Counter[tuple[Name, int]] = Counter()
    for user in world.users:
        for period, told in enumerate(user.sessions):
            names = [
                name
                for session in told
                for message in session.messages
                for name in set(world.register.mentions(message.content))
            ]
            for later in range(period, len(user.sessions)):
                counted.update((name, later) for name in names)
    return counted
