"""Contents: what replies are made of, whatever the question: leaks, times, size, whose values."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence

from aml_contract.probe.asking import Asked, Record
from aml_contract.probe.metrics import Tally, views
from aml_contract.probe.names import Name
from aml_contract.probe.reply import Lengths, Shown
from aml_contract.probe.world import User, World

_DAY = 86_400.0
"""Seconds by which a time may differ from that of a message: some keep the date only."""

Times = Mapping[Name, Sequence[float]]
"""When each name was said, in seconds since 1970."""


def of_contents(world: World, record: Record) -> Tally:
    """Metrics of a whole course.

    ``visible``: values that were found by their own words right after their Add. ``leak``: replies
    with a name of another user. ``dated``: items with a time; ``event_time``: of those with a name,
    the ones whose time is that of a message that said it. ``fabrication``: of items with another
    person's value or a mere plan, the ones that do not say so. ``density``: characters of items
    with a value that was asked for and is true. ``characters``, ``tokens``: of a reply.
    """
    tally = Tally(len(world.users))
    for place, found in sorted(record.visible.items()):
        tally.add("visible", place.user, found)
    for number, count in sorted(record.replies_of.items()):
        tally.add("leak", number, record.leaks[number], count)
    times, lengths = _times(world), Lengths()
    for asked in record.asked:
        user = world.users[asked.user]
        _size(tally, asked, lengths)
        for item in asked.reply.items:
            _time(tally, user, item, times)
            _whose(tally, world, user, item)
    for view in views(world, record.asked):
        true = view.user.name(view.slot, view.user.current(view.period, view.slot))
        items = view.reply.items
        telling = sum(len(item.content) for item in items if true in item.names)
        everything = sum(len(item.content) for item in items)
        tally.add("density", view.user.number, telling, everything)
    return tally


def _times(world: World) -> Times:
    said: defaultdict[Name, list[float]] = defaultdict(list)
    for user in world.users:
        for session in (session for told in user.sessions for session in told):
            for name in world.register.mentions(session.sentence):
                said[name].append(session.messages[0].timestamp / 1000)
    return said


def _size(tally: Tally, asked: Asked, lengths: Lengths) -> None:
    contents = [item.content for item in asked.reply.items]
    tally.add("characters", asked.user, sum(map(len, contents)))
    tally.add("tokens", asked.user, sum(map(lengths.of, contents)))


def _time(tally: Tally, user: User, item: Shown, times: Times) -> None:
    tally.add("dated", user.number, item.created is not None)
    own = [name for name in item.names if name.user == user.number]
    if item.created is not None and own:
        said = (at for name in own for at in times.get(name, ()))
        near = any(abs(at - item.created) <= _DAY for at in said)
        tally.add("event_time", user.number, near)


def _whose(tally: Tally, world: World, user: User, item: Shown) -> None:
    kinds = {name.kind for name in item.names if name.user == user.number}
    text = item.content.casefold()
    for kind, cues in (
        ("other", world.language.other_cues),
        ("plan", world.language.plan_cues),
    ):
        if kind in kinds:
            tally.add("fabrication", user.number, not any(cue in text for cue in cues))
