"""What a forecast means for a certificate.

FAIL: it surely takes longer than anybody must keep an endpoint up. INCONCLUSIVE: it may, or it
takes longer than any run so far, or requests would be given up. INCOMPLETE: nothing to go by.
Otherwise PASS; what proxies may cut is a remark, as not all have one.
"""

from __future__ import annotations

from collections.abc import Iterator

from aml_contract.certification.capacity.record import Trouble
from aml_contract.certification.forecast.data import Break, ForecastData, Hours
from aml_contract.certification.grounds import (
    Ground,
    judged,
    missing,
    open_question,
    remark,
    wrong,
)
from aml_contract.certification.stage import Judgement

LONGEST_SEEN = 10 * 24.0
"""Hours of the longest Full (clause L1)."""
STAYS_UP = 30 * 24.0
"""Hours that an endpoint must stay up (clause L1)."""


def judgement_of(data: ForecastData) -> Judgement:
    """Judge how long it takes, and what gives way."""
    return judged([*_problems(data), *_remarks(data)], _good(data))


def in_time(hours: float) -> str:
    """``40 minutes``, ``7.5 hours`` or ``12 days``."""
    unit, size = ("minute", 1 / 60) if hours < 1 else ("hour", 1.0) if hours < 72 else ("day", 24.0)
    count = f"{max(hours / size, 0.1):.2g}"
    return f"{count} {unit}{'' if count == '1' else 's'}"


def _good(data: ForecastData) -> str:
    if data.hours is None:
        return ""
    first = f"; {_break(data.breaks[0])}" if data.breaks else ""
    return f"{_run(data)} takes about {in_time(data.hours.mid)}{_interval(data.hours)}{first}."


def _run(data: ForecastData) -> str:
    volume = data.volume
    return f"A run of {volume.adds:,} Adds, {volume.users:,} users and {volume.searches:,} Searches"


def _interval(hours: Hours) -> str:
    return f" ({in_time(hours.low)} to {in_time(hours.high)} at 95 % confidence)"


def _problems(data: ForecastData) -> Iterator[Ground]:
    if data.hours is None:
        why = _why(data.trouble) if data.trouble else "too few requests were accepted"
        yield missing(
            f"There is too little to forecast from: {why}",
            "see what the capacity stage says",
        )
        return
    took = f"{_run(data)} takes about {in_time(data.hours.mid)}{_interval(data.hours)}"
    fix = "make Adds faster, or declare that it bears more in flight"
    if data.hours.low > STAYS_UP:
        yield wrong(f"{took}, and an endpoint stays up for 30 days", fix, "L1")
    elif data.hours.high > STAYS_UP:
        yield open_question(f"{took}, and an endpoint stays up for 30 days", fix, "L1")
    elif data.hours.low > LONGEST_SEEN:
        yield open_question(f"{took}, and no Full has taken more than ten days", fix, "L1")
    for one in data.breaks:
        if one.what == "platform":
            yield open_question(
                _sentence(_break(one)),
                "read a bounded part of a user's history on each request",
                "F2",
            )


def _why(trouble: Trouble) -> str:
    name = "an Add" if trouble.operation == "add" else "a Search"
    return f"{name} of a growing history was answered {trouble.answer}"


def _break(one: Break) -> str:
    kind = "Add" if one.operation == "add" else "Search"
    limit = {
        "proxy": "100 s, after which proxies cut",
        "platform": "30 minutes, after which the platform gives up",
    }[one.what]
    how = "" if one.measured else ", if it grows on as measured"
    return (
        f"from {one.history} Adds of a user on, one {kind} in a hundred takes longer than {limit}"
        f"{how} ({one.share:.0%} of all have as long a history)"
    )


def _sentence(words: str) -> str:
    return words[:1].upper() + words[1:]


def _remarks(data: ForecastData) -> Iterator[Ground]:
    for one in data.breaks:
        if one.what == "proxy":
            yield remark(_sentence(_break(one)), "answer sooner, or have no proxy in front", "F2")
    if data.limited:
        yield remark(
            "The declared rate limit is what makes it so long",
            "ask for a higher one where the model or the store comes from",
        )
    if data.waiting and data.waiting > 0.05:
        yield remark(
            f"{data.waiting:.0%} of the time of Adds is waiting to be sent again",
            "bear what is declared, and send Retry-After with the seconds that it takes",
            "F1",
        )
    for words in data.assumptions:
        yield remark(f"Assumed: {words.removesuffix('.')}")
