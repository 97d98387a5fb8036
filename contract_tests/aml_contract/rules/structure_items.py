"""The items of a Search answer, and keys beyond the contract's (clauses S6 to S10, A11)."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from aml_contract.exchange import Exchange
from aml_contract.finding import NotTested
from aml_contract.outcome import Level
from aml_contract.rule import Cost, rule
from aml_contract.techniques.readings import kind_of, read_strictly
from aml_contract.trial import Trial

ADD_KEYS = frozenset({"success", "request_id", "user_id", "session_id"})
ITEM_KEYS = frozenset({"id", "content", "score", "created_at"})


@rule(
    "structure/item-ids",
    level=Level.MUST,
    clauses=("S6", "S10"),
    title="Every item's id is a non-empty string.",
    why="One invalid item makes the whole answer a contract error.",
    fix="Send str(row_id), never a number or null.",
    cost=Cost(adds=1, searches=1),
    modes=(57,),
    peers=("P54", "P55"),
)
async def item_ids(t: Trial) -> None:
    """Every item of an ordinary answer, not only the first."""
    exchange = await _some_items(t)
    for position, item in enumerate(t.items(exchange), start=1):
        t.require("id" in item.raw, f"item {position} has no id", exchange)
        t.require(
            isinstance(item.id, str) and item.id != "",
            f"the id of item {position} is {kind_of(item.id)}, not a non-empty string",
            exchange,
        )


@rule(
    "structure/ids-unique",
    level=Level.SHOULD,
    clauses=("S6",),
    title="No two items of one answer share an id.",
    why="Items are told apart by id; a reader that merges by id loses the second.",
    fix="Give each memory an id of its own, not the request's or the session's.",
    cost=Cost(adds=1, searches=1),
    modes=(59,),
    peers=("P64",),
)
async def ids_unique(t: Trial) -> None:
    """Three messages of one request, one answer."""
    exchange = await _some_items(t)
    ids = [str(item.id) for item in t.items(exchange)]
    twice = next((one for one in ids if ids.count(one) > 1), None)
    t.require(
        twice is None,
        f"{len(ids)} items have only {len(set(ids))} different ids; {twice!r} comes more than once",
        exchange,
    )


@rule(
    "structure/item-content",
    level=Level.MUST,
    clauses=("S7", "S10", "A9"),
    title="Every item's content is a non-empty text, also after a blank turn was stored.",
    why="One empty content makes the whole answer a contract error; real chunks hold blank turns.",
    fix="Skip blank turns when storing, and never send null or an empty text.",
    cost=Cost(adds=2, searches=1),
    modes=(60,),
    peers=("P56",),
    cases=("B18",),
)
async def item_content(t: Trial) -> None:
    """Every item of an answer, a blank turn having been sent before."""
    user = t.ns.user()
    blank = t.add_body(user, t.ns.marker().text, "   ")
    refused = (await t.insist("add", blank)).status != 200
    if refused:
        t.note("the Add with a blank turn was refused, so none was stored (see input/*)")
    exchange = await _some_items(t, user)
    for position, item in enumerate(t.items(exchange), start=1):
        t.require("content" in item.raw, f"item {position} has no content", exchange)
        content = item.raw["content"]
        t.require(
            isinstance(content, str | list),
            f"the content of item {position} is {kind_of(content)}, not a text",
            exchange,
        )
        t.require(item.content.strip() != "", f"the content of item {position} is blank", exchange)
        if isinstance(content, list):
            t.warn(
                f"the content of item {position} is a list of parts, though the message was "
                "stored as a text; readers of the text tracks expect a string",
                exchange,
            )
            return


@rule(
    "structure/created-at",
    level=Level.MAY,
    clauses=("S9",),
    title="created_at, where sent, is an ISO 8601 time with an offset.",
    why="A number, an epoch or a local time tells the answer model a wrong date, or none.",
    fix="Send datetime.isoformat() of an aware UTC time; leave the key out when unknown.",
    cost=Cost(adds=1, searches=1),
    modes=(63,),
    peers=("P62", "P63"),
)
async def created_at(t: Trial) -> None:
    """Every item of an answer; one of the messages is dated."""
    exchange = await _some_items(t)
    for position, item in enumerate(t.items(exchange), start=1):
        if "created_at" not in item.raw:
            continue
        value = item.raw["created_at"]
        where = f"created_at of item {position}"
        t.require(value is not None, f"{where} is null; leave the key out instead", exchange)
        t.require(isinstance(value, str), f"{where} is {kind_of(value)}, not a string", exchange)
        try:
            moment = datetime.fromisoformat(value)
        except ValueError:
            t.fail(f"{where} is {value!r}, which is not ISO 8601", exchange)
        else:
            t.require(
                moment.tzinfo is not None, f"{where} is {value!r}, without an offset", exchange
            )


@rule(
    "structure/extra-keys",
    level=Level.MAY,
    clauses=("A11", "S10"),
    title="Answers hold the keys of the contract and no others.",
    why="Other keys are ignored by the platform today; a stricter reader may refuse them.",
    fix="Keep scores of sub-indexes, trace ids and the like out of the answers.",
    cost=Cost(adds=1, searches=1),
    modes=(30,),
    peers=("P19", "P60"),
)
async def extra_keys(t: Trial) -> None:
    """One ordinary Add and the Search that finds it."""
    user, marker = t.ns.user(), t.ns.marker()
    added = await t.add(user, marker.text)
    found = await t.search_exchange(user, marker.query)
    answer = read_strictly(added, "structure/add-json")
    if isinstance(answer, dict) and (extra := sorted(answer.keys() - ADD_KEYS)):
        t.fail(f"the Add answer has keys beyond the contract: {', '.join(extra)}", added)
    items = t.items(found)
    if extra := sorted(found.json.keys() - {"data"}):
        t.fail(f"the Search answer has keys beyond the contract: {', '.join(extra)}", found)
    if extra := sorted({key for item in items for key in item.raw} - ITEM_KEYS):
        t.fail(f"items have keys beyond the contract: {', '.join(extra)}", found)


async def _some_items(t: Trial, user: str | None = None) -> Exchange:
    """A Search answer that holds items: of three messages, one of them dated."""
    user = user or t.ns.user()
    topic = t.ns.topic(3)
    texts: list[Any] = [{"role": "user", "content": m.text} for m in topic.markers]
    texts[0]["timestamp"] = 1704067200000
    await t.add(user, *texts)
    exchange = await t.search_exchange(user, topic.query)
    if not t.items(exchange):
        raise NotTested("nothing came back to be judged (see visibility/immediate)", exchange)
    return exchange
