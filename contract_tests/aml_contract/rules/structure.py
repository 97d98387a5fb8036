"""The shape of what comes back: status, JSON, envelope (clauses A11, A13, S5, S11)."""

from __future__ import annotations

from aml_contract.exchange import Exchange, NotStrictJSONError
from aml_contract.finding import NotApplicable, NotTested
from aml_contract.outcome import Level
from aml_contract.rule import Capability, Cost, rule
from aml_contract.techniques.readings import kind_of, read_strictly
from aml_contract.techniques.steps import see_working
from aml_contract.trial import Trial

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
    answer = read_strictly(exchange, "structure/add-json")
    t.require(
        isinstance(answer, dict), f"the Add answer is {kind_of(answer)}, not an object", exchange
    )
    t.require("success" in answer, "the Add answer has no success", exchange)
    t.require(
        answer["success"] is True,
        f"success is {kind_of(answer['success'])}, not the boolean true",
        exchange,
    )
    for name in ("request_id", "user_id", "session_id"):
        t.require(name in answer, f"the Add answer has no {name}", exchange)
        t.require(
            isinstance(answer[name], str),
            f"{name} in the Add answer is {kind_of(answer[name])}, not a string",
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
    answer = read_strictly(exchange, "structure/search-json")
    t.require(
        isinstance(answer, dict),
        f'the Search answer is {kind_of(answer)}, not an object with "data"',
        exchange,
    )
    t.require(
        "data" in answer,
        f'the Search answer has no "data"; its keys are {", ".join(sorted(answer)) or "none"}',
        exchange,
    )
    data = answer["data"]
    t.require(isinstance(data, list), f'"data" is {kind_of(data)}, not a list', exchange)
    odd = next((item for item in data if not isinstance(item, dict)), None)
    t.require(odd is None, f'"data" holds {kind_of(odd)} where an object belongs', exchange)


@rule(
    "structure/unknown-user",
    level=Level.MUST,
    clauses=("S11", "S5"),
    title='A Search for a user never seen is answered 200 with {"data": []}.',
    why="The platform asks before anything is stored; null, 404 or 500 is a failed Search.",
    fix="Return an empty list, not null, when the user has no memories.",
    cost=Cost(adds=1, searches=2),
    modes=(56,),
    peers=("P67", "P68"),
    cases=("B08", "B24"),
)
async def unknown_user(t: Trial) -> None:
    """One Search as a user that nobody ever used; if it fails, one of a user with memories."""
    exchange = await t.insist("search", t.search_body(t.ns.user(), t.ns.marker().query))
    if exchange.status in (None, 401, 403, 408, 425, 429, 503):
        raise NotTested(
            f"a Search was answered {exchange.summary} (see structure/legal-requests)", exchange
        )
    if exchange.status != 200:
        await see_working(t, "search")
        t.fail(f"a Search for a user never seen was answered {exchange.summary}, not 200", exchange)
    answer = read_strictly(exchange, "structure/search-json")
    if not isinstance(answer, dict) or answer.get("data") != []:
        await see_working(t, "search")
        data = answer["data"] if isinstance(answer, dict) and "data" in answer else answer
        t.fail(f'a Search for a user never seen gave {kind_of(data)}, not "data": []', exchange)


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
