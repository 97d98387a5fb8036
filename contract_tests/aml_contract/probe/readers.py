"""Readers: rules that choose a value from a reply, in the place of a model that would answer.

``top`` takes the value mentioned first; ``latest`` the last one mentioned in the newest item,
which is what answer models are asked to do; ``vote`` the one that most items mention.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence

from aml_contract.probe.names import Name
from aml_contract.probe.reply import Shown

Reader = Callable[[Sequence[tuple[Shown, Sequence[Name]]]], Name]
"""From items and the values that each mentions, one at least, to the value that is chosen."""


def top(items: Sequence[tuple[Shown, Sequence[Name]]]) -> Name:
    """The first mention."""
    return items[0][1][0]


def latest(items: Sequence[tuple[Shown, Sequence[Name]]]) -> Name:
    """The last mention in the newest item; without any time, the first mention.

    Of items of one time the best ranked is the newest.
    """
    dated = [(item.created, names) for item, names in items if item.created is not None]
    if not dated:
        return top(items)
    return max(dated, key=lambda each: each[0])[1][-1]


def vote(items: Sequence[tuple[Shown, Sequence[Name]]]) -> Name:
    """The value in most items; of several the one that is mentioned first."""
    counted = Counter(name for _, names in items for name in dict.fromkeys(names))
    return counted.most_common(1)[0][0]


READERS: dict[str, Reader] = {"top": top, "latest": latest, "vote": vote}


def choice(reader: Reader, items: Sequence[Shown], user: int, slot: int, among: int) -> Name | None:
    """What a reader chooses of the first ``among`` items; ``None`` if none mentions a value."""
    mentioned = [
        (item, names)
        for item in items[:among]
        if (
            names := [
                name
                for name in item.names
                if (name.user, name.slot, name.kind) == (user, slot, "value")
            ]
        )
    ]
    return reader(mentioned) if mentioned else None
