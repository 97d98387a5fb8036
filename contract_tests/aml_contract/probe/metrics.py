"""Metrics: what came back of what is true, and of what is no longer.

Every figure is a ratio of counts, kept for each user apart, so that intervals can be made of
them. An observation is one slot in one question, or one question where that is said.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby

from aml_contract.probe.asking import Asked, Place, Record
from aml_contract.probe.intervals import Figure, ratio
from aml_contract.probe.readers import READERS, choice
from aml_contract.probe.reply import Reply
from aml_contract.probe.stages import STAGES, stage_of
from aml_contract.probe.world import Mode, User, World

DEPTHS = (5, 10, 20, 100)
"""Numbers of first items that figures are given among."""
PAIR = 2
"""Slots of a question."""


class Tally:
    """Sums of observations, for each metric and user."""

    def __init__(self, users: int) -> None:
        self._users = users
        self._sums: defaultdict[str, list[list[float]]] = defaultdict(
            lambda: [[0.0, 0.0] for _ in range(users)]
        )

    def add(self, metric: str, user: int, value: float, of: float = 1.0) -> None:
        """One observation: ``value`` out of ``of``."""
        sums = self._sums[metric][user]
        sums[0] += value
        sums[1] += of

    def counts(self) -> dict[str, list[list[float]]]:
        """For each metric the sum of what was observed and that of what it is out of, by user."""
        return dict(self._sums)

    def figures(self) -> dict[str, Figure | None]:
        """The figures of all metrics that were observed."""
        return {metric: self.figure(metric) for metric in self._sums}

    def figure(self, metric: str) -> Figure | None:
        """The figure of a metric; ``None`` if it was never observed."""
        if metric not in self._sums:
            return None
        parts, wholes = zip(*self._sums[metric], strict=True)
        return ratio(parts, wholes)


@dataclass(frozen=True)
class View:
    """One slot in the reply to a question: the ranks that count, and what is true."""

    user: User
    period: int
    slot: int
    reply: Reply

    @property
    def current(self) -> int | None:
        """The rank of the first item with the value that is true."""
        value = self.user.current(self.period, self.slot)
        return self.reply.first([self.user.name(self.slot, value)])

    @property
    def stale(self) -> int | None:
        """The rank of the first item with a value that was true and is no longer."""
        names = [self.user.name(self.slot, value) for value in self._superseded]
        return self.reply.first(names) if names else None

    @property
    def has_past(self) -> bool:
        """Whether there is a superseded value."""
        return bool(self._superseded)

    @property
    def _superseded(self) -> frozenset[int]:
        return self.user.life.superseded(self.period, self.slot)

    def chosen(self, reader: str, among: int) -> bool | None:
        """Whether a reader takes the true value; ``None`` if no value is mentioned."""
        items = self.reply.items
        name = choice(READERS[reader], items, self.user.number, self.slot, among)
        if name is None:
            return None
        return name.value == self.user.current(self.period, self.slot)


def views(world: World, asked: Iterable[Asked]) -> list[View]:
    """Every slot of every question that was asked."""
    return [
        View(world.users[each.user], each.period, slot, each.reply)
        for each in asked
        for slot in each.question.slots
    ]


def at_depth(world: World, record: Record, mode: Mode, among: int) -> Tally:
    """The metrics of one mode among so many first items."""
    tally = Tally(len(world.users))
    for view in views(world, (a for a in record.asked if a.question.mode == mode)):
        _ranks(tally, view, among)
        _stage(tally, record, view, among)
        _temporary(tally, view, among)
    for together in questions(world, record, mode):
        _question(tally, together, among, world.parameters.values)
    return tally


def questions(world: World, record: Record, mode: Mode) -> list[list[View]]:
    """The slots that belong together, in each period: both have to be found."""
    pair_of = {
        (user.number, slot): number
        for user in world.users
        for number, pair in enumerate(user.life.pairs)
        for slot in pair
    }

    def key(view: View) -> tuple[int, int, int]:
        return view.period, view.user.number, pair_of[view.user.number, view.slot]

    found = views(world, (a for a in record.asked if a.question.mode == mode))
    return [list(group) for _, group in groupby(sorted(found, key=key), key=key)]


def _within(rank: int | None, among: int) -> int | None:
    return rank if rank is not None and rank <= among else None


def _ranks(tally: Tally, view: View, among: int) -> None:
    user, current = view.user.number, _within(view.current, among)
    tally.add("hit", user, current is not None)
    tally.add("mrr", user, 1 / current if current else 0.0)
    if view.has_past:
        stale = _within(view.stale, among)
        tally.add("stale_exposed", user, stale is not None)
        first = stale is not None and (current is None or stale < current)
        tally.add("stale_first", user, first)
        tally.add("stale_only", user, stale is not None and current is None)


def _stage(tally: Tally, record: Record, view: View, among: int) -> None:
    user = view.user.number
    chosen = view.chosen("latest", among) if _within(view.current, among) else None
    tenure = view.user.tenure(view.period, view.slot)
    place = Place(user, view.period, view.slot)
    found = stage_of(record, place, tenure=tenure, chosen=chosen)
    for stage in STAGES:
        tally.add(stage, user, stage == found)


def _temporary(tally: Tally, view: View, among: int) -> None:
    """Whether an exception that has ended comes before what is true."""
    over = [
        session.name
        for told in view.user.sessions[: view.period + 1]
        for session in told
        if session.subject == "temporary" and session.name and session.name.slot == view.slot
    ]
    if over:
        shown, current = (_within(r, among) for r in (view.reply.first(over), view.current))
        before = shown is not None and (current is None or shown < current)
        tally.add("temporary_first", view.user.number, before)


def _question(tally: Tally, together: Sequence[View], among: int, values: int) -> None:
    user = together[0].user.number
    tally.add("all", user, all(_within(view.current, among) is not None for view in together))
    guessed = values**-PAIR
    for reader in READERS:
        accuracy = 1.0
        for view in together:
            chosen = view.chosen(reader, among)
            accuracy *= 1 / values if chosen is None else chosen
        tally.add(f"memory_{reader}", user, (accuracy - guessed) / (1 - guessed))
