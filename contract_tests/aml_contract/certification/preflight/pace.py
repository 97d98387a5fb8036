"""Pace: the first call beside later ones, and the server's clock beside ours."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from statistics import median

from aml_contract.certification.grounds import Ground, remark
from aml_contract.certification.preflight.calls import Call

_LONG = 5.0
"""Seconds of a first call that nobody minds."""
_TIMES = 5.0
"""How much slower than later ones a first call must be to be a cold start."""
_PROXY_TIMEOUT = 90.0
_SKEW = 60.0
"""Seconds between two clocks that nobody minds."""


def grounds(calls: Sequence[Call]) -> Iterator[Ground]:
    """What is to be said of times; nothing of it lowers the verdict."""
    for operation in ("add", "search"):
        yield from _first(ordinary(calls, operation))
    skew = clock(calls)
    if skew is not None and abs(skew) > _SKEW:
        side = "before" if skew > 0 else "behind"
        yield remark(
            f"The server's clock is {abs(skew):.0f} s {side} that of this machine.",
            "set both by NTP: times in answers and certificates depend on it",
        )


def ordinary(calls: Sequence[Call], operation: str) -> list[Call]:
    """The Adds, or the Searches, that are like any other, in order."""
    return [
        call
        for call in calls
        if (call.operation, call.method, call.key) == (operation, "POST", "right")
    ]


def clock(calls: Sequence[Call]) -> float | None:
    """Seconds by which the server's clock is before ours, from the fastest answer."""
    dated = [call for call in calls if call.skew is not None]
    return min(dated, key=lambda call: call.seconds).skew if dated else None


def _first(calls: Sequence[Call]) -> Iterator[Ground]:
    if not calls:
        return
    first, later = calls[0], [call.seconds for call in calls[1:] if call.status == 200]
    name = first.named
    if first.tries > 1 and first.status == 200:
        yield remark(
            f"{name} is answered 200 at the {_ordinal(first.tries)} try only.",
            "have health fail until the server can answer, and keep it awake",
        )
    if first.seconds > _PROXY_TIMEOUT:
        yield remark(
            f"The first {name.split()[-1]} took {first.seconds:.0f} s; proxies cut requests off "
            "after 100 to 125 s.",
            "load what it needs when the server starts, and keep it awake",
            "F2",
        )
    elif later and first.seconds > max(_LONG, _TIMES * median(later)):
        yield remark(
            f"The first {name.split()[-1]} took {first.seconds:.1f} s, later ones "
            f"{median(later):.1f} s: it starts cold.",
            "load what it needs when the server starts, and keep it awake",
        )


def _ordinal(number: int) -> str:
    return {2: "second", 3: "third"}.get(number, f"{number}th")
