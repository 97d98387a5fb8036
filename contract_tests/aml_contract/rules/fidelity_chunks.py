"""``fidelity/*``: messages beside others keep to themselves (clauses A4, A12, S9)."""

from __future__ import annotations

from datetime import UTC, datetime

from aml_contract.exchange import Exchange
from aml_contract.finding import NotTested
from aml_contract.item import Item
from aml_contract.namespace import Marker
from aml_contract.outcome import Level
from aml_contract.rule import Capability, Cost, rule
from aml_contract.trial import Trial

FIRST_DAY = datetime(2023, 1, 7, 12, tzinfo=UTC)
"""Noon, so that no local time makes another date of it."""
WEEK = 7 * 86_400_000
"""Milliseconds."""


@rule(
    "fidelity/batch-order",
    level=Level.SHOULD,
    clauses=("A4", "S5", "S9"),
    title="Each message of a chunk keeps its own text, vector and date.",
    why="Embedders and bulk inserts may answer in another order than they were asked: then each "
    "message is found by its neighbour's words or carries its neighbour's date.",
    fix="Join the results of a batch by index, not by order of arrival; test with 20 messages.",
    cost=Cost(adds=1, searches=4),
    cases=("B13",),
)
async def batch_order(trial: Trial) -> None:
    """Twenty dated messages in one Add; four are quoted, and come first with their own date.

    What puts the same message first whatever is quoted, the newest say, mixes up nothing.
    """
    user, markers = trial.ns.user(), [trial.ns.marker() for _ in range(20)]
    start = int(FIRST_DAY.timestamp() * 1000)
    added = await trial.add(
        user,
        *(
            {"role": "user", "content": marker.text, "timestamp": start + place * WEEK}
            for place, marker in enumerate(markers)
        ),
    )
    mixed: dict[int, tuple[int, Exchange]] = {}
    for place in (0, 6, 13, 19):
        exchange = await trial.search_exchange(user, markers[place].text)
        items = trial.items(exchange)
        if not trial.showing(items, markers[place]):
            raise NotTested("a stored message is not found (see visibility/every-message)", added)
        first = _alone(trial, items[0], markers)
        if first not in (None, place):
            mixed[place] = first, exchange
        _dates_are_their_own(trial, items, markers, added, exchange)
    if len({first for first, _ in mixed.values()}) > 1:
        place, (first, exchange) = next(iter(mixed.items()))
        trial.fail(
            f"a query that quotes message {place + 1} of a chunk of 20 brings message "
            f"{first + 1} first, and {len(mixed)} of 4 quotes go wrong like that: what is "
            "searched is another message's than what is shown",
            added,
            exchange,
        )


@rule(
    "fidelity/near-duplicates",
    level=Level.MAY,
    clauses=("A12", "A4"),
    title="Messages that differ in a digit or in one word are all kept.",
    why="A changed time, price or 'not' is what is asked about; a store that folds look-alikes, "
    "or knows texts by their beginning, answers with the old one.",
    fix="Fold only what is equal to the last character, and only within one request.",
    cost=Cost(adds=4, searches=1),
    capabilities={Capability.VERBATIM},
)
async def near_duplicates(trial: Trial) -> None:
    """A long sentence four times, with another end each: two digits, 'is', 'is not'."""
    user, marker = trial.ns.user(), trial.ns.marker()
    stem = f"{marker.text} {trial.ns.filler(120)}; the locker of room 12"
    texts = [
        f"{stem} {end}." for end in ("has code 4821", "has code 4827", "is mine", "is not mine")
    ]
    for text in texts:
        await trial.add(user, text)
    items = await trial.search(user, marker.query)
    exchange = trial.last_exchange_of("search")
    if not trial.showing(items, marker):
        raise NotTested("a stored message is not found (see visibility/immediate)", exchange)
    lost = [text for text in texts if not any(text in item.content for item in items)]
    trial.require(
        not lost,
        f"of {len(texts)} messages that differ at their end only, {len(lost)} are not found: "
        + ", ".join(repr(text.removeprefix(stem).strip()) for text in lost),
        exchange,
    )


def _alone(trial: Trial, item: Item, markers: list[Marker]) -> int | None:
    """The place of the one message that an item shows; ``None`` if it shows several or none."""
    places = [n for n, marker in enumerate(markers) if trial.showing([item], marker)]
    return places[0] if len(places) == 1 else None


def _dates_are_their_own(
    trial: Trial, items: list[Item], markers: list[Marker], added: Exchange, found: Exchange
) -> None:
    """No item of one message carries the date of another; one date for all is a reading.

    Raises:
        Violation: one does.
    """
    dates: dict[int, str] = {}
    for item in items:
        place, created = _alone(trial, item, markers), item.raw.get("created_at")
        if place is not None and isinstance(created, str):
            dates[place] = created[:10]
    if len(set(dates.values())) < 2:
        return
    sent = [_day(place) for place in range(len(markers))]
    for place, date in dates.items():
        trial.require(
            date == sent[place] or date not in sent,
            f"message {place + 1} of a chunk, of {sent[place]}, came back with the date of "
            f"another: {date}",
            added,
            found,
        )


def _day(place: int) -> str:
    moment = FIRST_DAY.timestamp() + place * WEEK / 1000
    return datetime.fromtimestamp(moment, tz=UTC).date().isoformat()
