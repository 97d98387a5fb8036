"""The shape of what comes back: status, envelope, items (clauses A11, A13, S5 to S11)."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from aml_contract.exchange import Exchange, NotStrictJSONError
from aml_contract.finding import NotApplicable, NotTested
from aml_contract.outcome import Level
from aml_contract.rule import Capability, Cost, rule
from aml_contract.trial import Trial

ADD_KEYS = frozenset({"success", "request_id", "user_id", "session_id"})
ITEM_KEYS = frozenset({"id", "content", "score", "created_at"})
UTF8 = frozenset({"", "utf-8", "utf8", "us-ascii"})


@rule(
    "structure/add-status",
    level=Level.MUST,
    clauses=("A11", "A13"),
    title="A successful Add is answered with status 200 exactly.",
    why="The platform takes any other status, 201, 202 and 204 too, as a failed write, and "
    "202 without an approved status URL ends the stage.",
    fix="Return 200 once every message is stored. In FastAPI, drop status_code=201 from the route.",
    cost=Cost(adds=1),
    modes=(24,),
    peers=("P16", "P20"),
)
async def add_status(t: Trial) -> None:
    """One ordinary Add."""
    exchange = await t.insist("add", t.add_body(t.ns.user(), t.ns.marker().text))
    if exchange.status == 202 and Capability.DEFERRED_ADD in t.run.capabilities:
        raise NotApplicable("the endpoint declares deferred Adds", exchange)
    if exchange.status is None or not 200 <= exchange.status < 300:
        raise t.refused(exchange)
    t.require(
        exchange.status == 200,
        f"a successful Add was answered {exchange.status}; only 200 counts as success",
        exchange,
    )


@rule(
    "structure/add-json",
    level=Level.MUST,
    clauses=("A11", "A13"),
    title="The Add answer is strict JSON in UTF-8, sent as application/json.",
    why="An answer that a strict reader cannot parse counts as a failed write, though the "
    "chunk is stored.",
    fix="Send the answer with your framework's JSON response; no HTML, no NaN, no repeated key.",
    cost=Cost(adds=1),
    modes=(31,),
)
async def add_json(t: Trial) -> None:
    """One ordinary Add, its answer read as the strictest reader would."""
    exchange = await t.add(t.ns.user(), t.ns.marker().text)
    _strict_json(t, exchange, "Add")


@rule(
    "structure/search-json",
    level=Level.MUST,
    clauses=("S5",),
    title="The Search answer is strict JSON in UTF-8, sent as application/json.",
    why="A score of NaN or a repeated key makes the whole answer unreadable to a strict parser.",
    fix="Serialise with NaN refused (allow_nan=False) and leave out scores that are not finite.",
    cost=Cost(adds=1, searches=1),
    modes=(31, 61),
    cases=("B26",),
)
async def search_json(t: Trial) -> None:
    """One ordinary Search that finds something, read as the strictest reader would."""
    user, marker = t.ns.user(), t.ns.marker()
    await t.add(user, marker.text)
    _strict_json(t, await t.search_exchange(user, marker.query), "Search")


@rule(
    "structure/add-success",
    level=Level.MUST,
    clauses=("A11", "A13"),
    title="The Add answer is an object with success true and the three ids as strings.",
    why='200 with another shape ("ok", "true", 1, no ids) ends the stage at once.',
    fix='Answer {"success": true, "request_id": …, "user_id": …, "session_id": …}.',
    cost=Cost(adds=1),
    modes=(21,),
    peers=("P17",),
)
async def add_success(t: Trial) -> None:
    """One ordinary Add, types compared exactly."""
    exchange = await t.add(t.ns.user(), t.ns.marker().text)
    answer = _read(exchange, "structure/add-json")
    t.require(
        isinstance(answer, dict), f"the Add answer is {_kind(answer)}, not an object", exchange
    )
    t.require("success" in answer, "the Add answer has no success", exchange)
    t.require(
        answer["success"] is True,
        f"success is {_kind(answer['success'])}, not the boolean true",
        exchange,
    )
    for name in ("request_id", "user_id", "session_id"):
        t.require(name in answer, f"the Add answer has no {name}", exchange)
        t.require(
            isinstance(answer[name], str),
            f"{name} in the Add answer is {_kind(answer[name])}, not a string",
            exchange,
        )


@rule(
    "structure/search-envelope",
    level=Level.MUST,
    clauses=("S5",),
    title='The Search answer is an object whose "data" is a list of objects.',
    why='The platform reads "data" and nothing else: a bare array, "items", "results" or null '
    "counts as a broken answer.",
    fix='Answer {"data": [...]}, with [] where nothing was found.',
    cost=Cost(adds=1, searches=1),
    modes=(55,),
    peers=("P52", "P53"),
)
async def search_envelope(t: Trial) -> None:
    """One ordinary Search that finds something."""
    user, marker = t.ns.user(), t.ns.marker()
    await t.add(user, marker.text)
    exchange = await t.search_exchange(user, marker.query)
    answer = _read(exchange, "structure/search-json")
    t.require(
        isinstance(answer, dict),
        f'the Search answer is {_kind(answer)}, not an object with "data"',
        exchange,
    )
    t.require(
        "data" in answer,
        f'the Search answer has no "data"; its keys are {", ".join(sorted(answer)) or "none"}',
        exchange,
    )
    data = answer["data"]
    t.require(isinstance(data, list), f'"data" is {_kind(data)}, not a list', exchange)
    odd = next((item for item in data if not isinstance(item, dict)), None)
    t.require(odd is None, f'"data" holds {_kind(odd)} where an object belongs', exchange)


@rule(
    "structure/unknown-user",
    level=Level.MUST,
    clauses=("S11", "S5"),
    title='A Search for a user never seen is answered 200 with {"data": []}.',
    why="The platform asks before anything is stored; null, 404 or 500 is a failed Search.",
    fix="Return an empty list, not null, when the user has no memories.",
    cost=Cost(searches=1),
    modes=(56,),
    peers=("P67", "P68"),
    cases=("B08", "B24"),
)
async def unknown_user(t: Trial) -> None:
    """One Search as a user that nobody ever used."""
    exchange = await t.insist("search", t.search_body(t.ns.user(), t.ns.marker().query))
    if exchange.status in (None, 401, 403, 408, 425, 429, 503):
        raise NotTested(f"a Search was answered {exchange.summary}", exchange)
    t.require(
        exchange.status == 200,
        f"a Search for a user never seen was answered {exchange.summary}, not 200",
        exchange,
    )
    answer = _read(exchange, "structure/search-json")
    data = answer.get("data") if isinstance(answer, dict) else answer
    t.require(
        isinstance(answer, dict) and data == [] and isinstance(data, list),
        f'a Search for a user never seen gave {_kind(data)}, not "data": []',
        exchange,
    )


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
            f"the id of item {position} is {_kind(item.id)}, not a non-empty string",
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
            f"the content of item {position} is {_kind(content)}, not a text",
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
        t.require(isinstance(value, str), f"{where} is {_kind(value)}, not a string", exchange)
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
    answer = _read(added, "structure/add-json")
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


def _strict_json(t: Trial, exchange: Exchange, name: str) -> None:
    try:
        _ = exchange.json
    except NotStrictJSONError as error:
        t.fail(f"the {name} answer is not strict JSON: {error}", exchange)
    content_type = exchange.reply_headers.get("content-type", "")
    media, *parameters = (part.strip().casefold() for part in content_type.split(";"))
    if not media:
        t.warn(f"the {name} answer has no content type; send application/json", exchange)
        return
    t.require(
        media == "application/json" or media.endswith("+json"),
        f"the {name} answer's content type is {media}, not application/json",
        exchange,
    )
    charset = next((p[8:].strip('"') for p in parameters if p.startswith("charset=")), "")
    if charset not in UTF8:
        t.warn(f"the {name} answer says charset={charset}; JSON is UTF-8", exchange)


def _read(exchange: Exchange, judge: str) -> Any:
    try:
        return exchange.json
    except NotStrictJSONError as error:
        raise NotTested(f"the answer is not strict JSON (see {judge})", exchange) from error


def _kind(value: Any) -> str:
    """A JSON value in words, without what it holds if that may be long."""
    if value is None or isinstance(value, bool):
        return "null" if value is None else str(value).lower()
    if isinstance(value, int | float):
        return f"the number {value}"
    if isinstance(value, str):
        return f'the string "{value[:40]}"'
    if isinstance(value, list):
        return f"a list of {len(value)}"
    return f"an object with the keys {', '.join(sorted(value)) or '(none)'}"
