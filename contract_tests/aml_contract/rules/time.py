"""``time/*``: event times of messages (clauses A7, S9).

A time shown in a result may be the event's or the hour of storing; what it must never be
is a misread unit. Each dated message has a user of its own, so that a result that joins
neighbours cannot show another message's date.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import Any

from aml_contract.finding import NotTested
from aml_contract.item import Item
from aml_contract.namespace import Marker
from aml_contract.outcome import Level
from aml_contract.rule import Cost, rule
from aml_contract.techniques.steps import Tolerance, attempt, planted
from aml_contract.trial import Trial

FUTURE = (4_102_444_800_001, 7_258_118_400_000, 253_402_214_400_000)
"""2100-01-01, 2200-01-01 and 9999-12-30 in milliseconds; seen in real data (row 2)."""
NEW_YEAR_2024 = 1_704_067_200_000
MAY_2023 = 1_683_547_200_000
"""2023-05-08 12:00 UTC."""
DAY = timedelta(days=1)
MISREAD = re.compile(r"\b(?:55[89]\d\d|1970)(?=\D|$)")
"""2024 in milliseconds read as seconds (year 55,968), or as microseconds (1970)."""


@rule(
    "time/far-future",
    level=Level.MUST,
    clauses=("A7",),
    title="Timestamps after 2100 are accepted and their messages stored.",
    why="Such values occur in the data; refusing them stopped an entrant's full run.",
    fix="Accept any number from 0 to below 2^63; leave out created_at where a date overflows.",
    cost=Cost(adds=4, searches=4),
    modes=(2,),
)
async def far_future(trial: Trial) -> None:
    """Three real values, each with a message that must be found."""
    user = trial.ns.user()
    await planted(trial, user)
    for timestamp in FUTURE:
        marker = trial.ns.marker()
        body = trial.add_body(user, dated(marker, timestamp))
        made = await attempt(trial, "add", body)
        trial.require(
            made.status == 200,
            f"a message with timestamp {timestamp} was answered {made.summary}",
            made,
        )
        trial.require(
            bool(await trial.find(user, marker)),
            f"a message with timestamp {timestamp} was acknowledged and is not found",
            made,
            trial.last_exchange_of("search"),
        )


@rule(
    "time/optional",
    level=Level.MUST,
    clauses=("A7",),
    title="A message without a timestamp is accepted.",
    why="The timestamp is optional; refusing its absence loses every undated conversation.",
    fix="Make the field optional and keep its absence.",
    cost=Cost(adds=2, searches=1),
    modes=(5,),
    peers=("P23",),
    cases=("B31",),
)
async def optional(trial: Trial) -> None:
    """A dated Add for comparison, then an undated one; mixed chunks occur too."""
    user = trial.ns.user()
    marker = trial.ns.marker()
    control = trial.add_body(user, dated(trial.ns.marker(), NEW_YEAR_2024))
    with_time = await attempt(trial, "add", control)
    beside = trial.ns.marker()
    mixed = trial.add_body(user, marker.text, dated(beside, NEW_YEAR_2024))
    made = await attempt(trial, "add", mixed)
    if with_time.status != 200 and made.status != 200:
        raise NotTested(
            f"no Add is accepted ({with_time.summary}) (see structure/legal-requests)", with_time
        )
    trial.require(
        made.status == 200, f"a message without a timestamp was answered {made.summary}", made
    )
    found = await trial.find(user, marker)
    if not found and not await trial.find(user, beside):
        raise NotTested("a stored message is not found (see visibility/immediate)", made)
    trial.require(
        bool(found),
        "a message without a timestamp was acknowledged and is not found",
        made,
        trial.last_exchange_of("search"),
    )


@rule(
    "time/no-invented-future",
    level=Level.SHOULD,
    clauses=("A7", "S9"),
    title="An undated message does not come back with a date in the future.",
    why="An invented date is false evidence for every question about time.",
    fix="Leave out created_at when the message had no timestamp.",
    cost=Cost(adds=1, searches=1),
    modes=(5,),
)
async def no_invented_future(trial: Trial) -> None:
    """The hour of storing is tolerated; anything beyond two days ahead is invented."""
    item = await stored(trial, None)
    moment = created(item)
    trial.require(
        moment is None or moment < now() + 2 * DAY,
        f"a message without a timestamp came back with created_at {item.raw.get('created_at')}",
        trial.last_exchange_of("search"),
    )


@rule(
    "time/milliseconds",
    level=Level.MUST,
    clauses=("A7", "S9"),
    title="Timestamps are read as Unix milliseconds.",
    why="Read as seconds, 2024 becomes the year 55,968; every dated answer is wrong.",
    fix="Divide by 1,000 once, always, and never guess the unit from the size.",
    cost=Cost(adds=1, searches=1),
    modes=(6,),
    peers=("P24",),
    cases=("B31",),
)
async def milliseconds(trial: Trial) -> None:
    """1704067200000 is 2024-01-01 UTC in any date shown; a local date may be a day off."""
    item = await stored(trial, NEW_YEAR_2024)
    exchange = trial.last_exchange_of("search")
    shown = str(item.raw.get("created_at", ""))
    moment = created(item)
    right = moment is None or near(moment, NEW_YEAR_2024) or abs(moment - now()) < 2 * DAY
    trial.require(
        right and not MISREAD.search(shown),
        f"timestamp {NEW_YEAR_2024} (2024-01-01) came back as {shown}",
        exchange,
    )
    misread = MISREAD.search(item.content)
    trial.require(
        misread is None,
        f"timestamp {NEW_YEAR_2024} (2024-01-01) is told as {misread and misread[0]} in content",
        exchange,
    )


@rule(
    "time/small-milliseconds",
    level=Level.MAY,
    clauses=("A7",),
    title="Small timestamps are milliseconds too.",
    why="A guess from the size turns 1970 into 1972 or later.",
    fix="Divide by 1,000 whatever the size.",
    cost=Cost(adds=1, searches=1),
    modes=(7,),
)
async def small_milliseconds(trial: Trial) -> None:
    """86400000 is 1970-01-02."""
    item = await stored(trial, 86_400_000)
    moment = created(item)
    right = moment is None or near(moment, 86_400_000) or abs(moment - now()) < 2 * DAY
    trial.require(
        right,
        f"timestamp 86400000 (1970-01-02) came back as {item.raw.get('created_at')}",
        trial.last_exchange_of("search"),
    )


@rule(
    "time/integral-float",
    level=Level.SHOULD,
    clauses=("A7",),
    title="A timestamp of 1704067200000.0 is accepted.",
    why="JSON has one kind of number; clients that compute times write them with a point.",
    fix="Accept any JSON number and floor it.",
    cost=Cost(adds=2, searches=2),
    modes=(8,),
)
async def integral_float(trial: Trial) -> None:
    """The same instant, spelled with a decimal point."""
    user = trial.ns.user()
    await planted(trial, user)
    marker = trial.ns.marker()
    made = await attempt(trial, "add", trial.add_body(user, dated(marker, float(NEW_YEAR_2024))))
    trial.require(
        made.status == 200, f"timestamp {NEW_YEAR_2024}.0 was answered {made.summary}", made
    )
    trial.require(
        bool(await trial.find(user, marker)),
        f"a message with timestamp {NEW_YEAR_2024}.0 was acknowledged and is not found",
        made,
        trial.last_exchange_of("search"),
    )


@rule(
    "time/fraction",
    level=Level.MAY,
    clauses=("A7",),
    title="A timestamp with a fraction is accepted and floored.",
    why="A needless 422 is never sent again and costs the chunk.",
    fix="Accept any JSON number and floor it.",
    cost=Cost(adds=2, searches=1),
    peers=("P105",),
)
async def fraction(trial: Trial) -> None:
    """Some readers refuse it; then it is a risk."""
    user = trial.ns.user()
    await planted(trial, user)
    body = trial.add_body(user, dated(trial.ns.marker(), NEW_YEAR_2024 + 0.5))
    tolerance = Tolerance(trial, "a refusal is final, and what was refused is lost")
    await tolerance.of("add", body, f"timestamp {NEW_YEAR_2024}.5")
    tolerance.report()


@rule(
    "time/zero",
    level=Level.MAY,
    clauses=("A7",),
    title="A timestamp of 0 is a time, not an absence.",
    why="Tests for truth instead of presence turn 0 into now.",
    fix="Compare with null, not with zero.",
    cost=Cost(adds=2, searches=2),
    peers=("P25",),
    cases=("B39",),
)
async def zero(trial: Trial) -> None:
    """Accepted, and not dated now where other messages keep their own date."""
    control = created(await stored(trial, NEW_YEAR_2024))
    user, marker = trial.ns.user(), trial.ns.marker()
    made = await attempt(trial, "add", trial.add_body(user, dated(marker, 0)))
    trial.require(made.status == 200, f"timestamp 0 was answered {made.summary}", made)
    found = await trial.find(user, marker)
    if not found or control is None or not near(control, NEW_YEAR_2024):
        return
    moment = created(found[0])
    trial.require(
        moment is None or abs(moment - now()) > 2 * DAY,
        f"timestamp 0 came back as {found[0].raw.get('created_at')}, the hour of storing",
        trial.last_exchange_of("search"),
    )


@rule(
    "time/event-date",
    level=Level.MAY,
    clauses=("S9",),
    title="A dated message shows its own date, in created_at or in content.",
    why="Questions about time cannot be answered from the hour of storing.",
    fix="Put the message's time into created_at.",
    cost=Cost(adds=1, searches=1),
    modes=(63, 64),
    peers=("P24",),
    cases=("B30",),
)
async def event_date(trial: Trial) -> None:
    """2023-05-08; any spelling of the year in the text is enough."""
    item = await stored(trial, MAY_2023)
    moment = created(item)
    exchange = trial.last_exchange_of("search")
    told = "2023" in item.content
    if moment is not None and not near(moment, MAY_2023) and not told:
        trial.fail(
            f"a message of 2023-05-08 came back with created_at {item.raw['created_at']} "
            "and no other date",
            exchange,
        )
    trial.require(
        told or moment is not None, "a message of 2023-05-08 came back without any date", exchange
    )


async def stored(trial: Trial, timestamp: float | None) -> Item:
    """The one result for the one message of a fresh user.

    Raises:
        NotTested: it is not found.
    """
    user, marker = trial.ns.user(), trial.ns.marker()
    await trial.add(user, dated(marker, timestamp) if timestamp is not None else marker.text)
    found = await trial.find(user, marker)
    if not found:
        raise NotTested(
            "an ordinary message is not found (see visibility/immediate)",
            trial.last_exchange_of("search"),
        )
    return found[0]


def dated(marker: Marker, timestamp: float) -> dict[str, Any]:
    """A message object."""
    return {"role": "user", "content": marker.text, "timestamp": timestamp}


def parsed(value: Any) -> datetime | None:
    """An ISO 8601 text as it says, or nothing."""
    try:
        return datetime.fromisoformat(value)
    except (TypeError, ValueError):
        return None


def created(item: Item) -> datetime | None:
    """``created_at`` as an instant, UTC assumed where it does not say."""
    moment = parsed(item.raw.get("created_at"))
    if moment is not None and moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    return moment


def near(moment: datetime, timestamp: int) -> bool:
    """Within a day of ``timestamp`` milliseconds: local dates are no misreading."""
    return abs(moment - datetime.fromtimestamp(timestamp / 1000, UTC)) <= DAY


def now() -> datetime:
    """The present instant."""
    return datetime.now(UTC)
