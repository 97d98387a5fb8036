"""Lives: which value each slot of a user has in each period, as a function of the seed."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Parameters:
    """How much of everything there is in a world; rates are shares from 0 to 1."""

    users: int = 3
    slots: int = 20
    values: int = 6
    periods: int = 10
    """Periods of change, after the one in which every slot is told."""
    changes: int = 4
    """Slots that change in each period."""
    most_changes: int = 3
    """Changes of one slot at most."""
    returns: float = 0.6
    """Of the changes that can go back to an earlier value those that do: 30 % of all."""
    indirect: float = 0.25
    """Values that are told by a scene, without the slot's name."""
    switches: float = 0.3
    """Changes that are told together with the old value."""
    references: float = 0.3
    """Changes after which the old value is remembered once more."""
    distractors: int = 1
    """In each period: values of others, exceptions that end, and plans, so many of each."""
    filler: int = 5
    """Sessions of small talk for each that tells a value."""


@dataclass(frozen=True)
class Change:
    """A slot takes a value; ``old`` is the one before, or ``None`` in the first period."""

    slot: int
    value: int
    old: int | None


@dataclass(frozen=True)
class Life:
    """What is true of one user: ``changes[p]`` happen in period ``p``, ``states[p]`` ends it."""

    user: int
    changes: tuple[tuple[Change, ...], ...]
    states: tuple[tuple[int, ...], ...]
    pairs: tuple[tuple[int, int], ...]
    """Slots that a question is about, two and two."""

    def superseded(self, period: int, slot: int) -> frozenset[int]:
        """Values that the slot had and no longer has at the end of a period."""
        held = {state[slot] for state in self.states[: period + 1]}
        return frozenset(held - {self.states[period][slot]})


def stream(seed: int, purpose: str, user: int) -> random.Random:
    """Chance for one purpose; more users or purposes do not change that of others."""
    return random.Random(f"{seed}/{purpose}/{user}")  # noqa: S311  not a secret


def live(seed: int, user: int, parameters: Parameters) -> Life:
    """The life of one user."""
    chance = stream(seed, "life", user)
    state = [chance.randrange(parameters.values) for _ in range(parameters.slots)]
    order = chance.sample(range(parameters.slots), parameters.slots)
    changes = [tuple(Change(slot, state[slot], None) for slot in order)]
    held = [[value] for value in state]
    states = [tuple(state)]
    for _ in range(parameters.periods):
        made = []
        for slot in _least_changed(held, parameters, chance):
            value = _next(held[slot], parameters, chance)
            made.append(Change(slot, value, state[slot]))
            held[slot].append(value)
            state[slot] = value
        changes.append(tuple(made))
        states.append(tuple(state))
    mixed = chance.sample(range(parameters.slots), parameters.slots)
    pairs = tuple(zip(mixed[::2], mixed[1::2], strict=False))
    return Life(user, tuple(changes), tuple(states), pairs)


def _least_changed(
    held: Sequence[Sequence[int]], parameters: Parameters, chance: random.Random
) -> list[int]:
    open_ones = [slot for slot, values in enumerate(held) if len(values) <= parameters.most_changes]
    chance.shuffle(open_ones)
    return sorted(open_ones, key=lambda slot: len(held[slot]))[: parameters.changes]


def _next(held: Sequence[int], parameters: Parameters, chance: random.Random) -> int:
    """Another value than the last: an earlier one at the rate of returns, if there is one."""
    earlier = sorted(set(held) - {held[-1]})
    new = sorted(set(range(parameters.values)) - set(held))
    if earlier and (not new or chance.random() < parameters.returns):
        return chance.choice(earlier)
    return chance.choice(new)
