"""Measuring in turns: what else the machine does meets all alike."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Mapping
from typing import TypeVar

_Request = TypeVar("_Request")
_Result = TypeVar("_Result")


def in_turns(
    calls: Mapping[str, Callable[[_Request], _Result]], requests: Iterable[_Request]
) -> dict[str, list[_Result]]:
    """What each call gives for each request; all are called with one before the next.

    The order of the calls changes, so that none always profits from what another has warmed.
    """
    order = random.Random(0)
    made: dict[str, list[_Result]] = {name: [] for name in calls}
    for request in requests:
        for name in order.sample(list(calls), len(calls)):
            made[name].append(calls[name](request))
    return made
