"""``order/*``: ranking, scores and ids of results (clauses S5, S6, S8)."""

from __future__ import annotations

import json
import math
from itertools import pairwise
from typing import Any

from aml_contract.exchange import Exchange
from aml_contract.finding import NotTested
from aml_contract.namespace import Topic
from aml_contract.outcome import Level
from aml_contract.rule import Cost, rule
from aml_contract.techniques.lists import changed_id, same_order
from aml_contract.techniques.steps import attempt
from aml_contract.trial import Trial


@rule(
    "order/scores-finite",
    level=Level.MUST,
    clauses=("S8", "S10"),
    title="A score, where given, is a finite JSON number.",
    why="One invalid item is a contract error; NaN and Infinity are not even JSON.",
    fix="Leave score out when the backend has none; never divide by a zero norm or distance.",
    cost=Cost(adds=1, searches=3),
    modes=(61,),
    peers=("P57", "P58"),
    cases=("B26",),
)
async def scores_finite(trial: Trial) -> None:
    """A broad query, an exact copy (distance zero) and one without words (norm zero)."""
    user, topic = await told(trial, 6)
    wordless = await attempt(trial, "search", trial.search_body(user, "?!"))
    exchanges = [
        await trial.search_exchange(user, topic.query),
        await trial.search_exchange(user, topic.markers[0].text),
        *([wordless] if wordless.status == 200 else []),
    ]
    nulls = []
    for exchange in exchanges:
        for score in scores(exchange):
            if score is None:
                nulls.append(exchange)
                continue
            number = isinstance(score, int | float) and not isinstance(score, bool)
            trial.require(number, f"a score is {json.dumps(score)}, not a number", exchange)
            trial.require(math.isfinite(score), f"a score is {score}, not finite", exchange)
    if nulls:
        trial.warn("a score is null: leave it out instead", nulls[0])


@rule(
    "order/scores-fall",
    level=Level.MAY,
    clauses=("S8",),
    title="Scores do not rise down the list.",
    why="A list sorted by distance, or not sorted at all, puts the worst evidence first.",
    fix="Turn distances into similarities and sort by score, highest first.",
    cost=Cost(adds=1, searches=2),
    modes=(62,),
    peers=("P61",),
    cases=("B25",),
)
async def scores_fall(trial: Trial) -> None:
    """A broad query and an exact copy."""
    user, topic = await told(trial, 6)
    for query in (topic.query, topic.markers[0].text):
        exchange = await trial.search_exchange(user, query)
        given = [s for s in scores(exchange) if isinstance(s, int | float)]
        for position, (above, below) in enumerate(pairwise(given), 1):
            trial.require(
                not below > above,
                f"scores rise down the list: item {position} has {above}, the next {below}",
                exchange,
            )


@rule(
    "order/stable",
    level=Level.MAY,
    clauses=("S5",),
    title="The same Search on unchanged data gives the same list.",
    why="Retried Searches and repeated runs should answer from the same evidence.",
    fix="Sort by score and then by id; do not rely on the order of a set or of threads.",
    cost=Cost(adds=2, searches=10),
    modes=(65,),
    peers=("P65",),
    cases=("B28",),
)
async def stable(trial: Trial) -> None:
    """Five times: a broad query, and a query that many equal texts match alike."""
    user, topic = await told(trial, 8)
    twin = trial.ns.marker()
    twins = trial.ns.user()
    await trial.add(twins, *[twin.text] * 10)
    for who, query in ((user, topic.query), (twins, twin.query)):
        first = await trial.search_exchange(who, query, top_k=5)
        for _ in range(4):
            again = await trial.search_exchange(who, query, top_k=5)
            before, after = trial.items(first), trial.items(again)
            trial.require(
                same_order(before, after),
                "the same Search on unchanged data gave another order of results",
                first,
                again,
            )


@rule(
    "order/prefix",
    level=Level.MAY,
    clauses=("S5", "S14"),
    title="The results of a small top_k begin the results of a larger one.",
    why="The answer model reads a prefix: what is best must not depend on how much was asked.",
    fix="Rank once, then cut; do not size candidate sets or diversity by top_k.",
    cost=Cost(adds=1, searches=2),
    peers=("P83",),
)
async def prefix(trial: Trial) -> None:
    """``top_k`` 3 against 10."""
    user, topic = await told(trial, 12)
    small = await trial.search_exchange(user, topic.query, top_k=3)
    large = await trial.search_exchange(user, topic.query, top_k=10)
    few, many = trial.items(small), trial.items(large)
    if not few:
        raise NotTested("the Search returned nothing (see visibility/immediate)", small)
    trial.require(
        same_order(few, many[: len(few)]),
        f"the {len(few)} results of top_k 3 are not the first {len(few)} of top_k 10",
        small,
        large,
    )


@rule(
    "order/ids-stable",
    level=Level.SHOULD,
    clauses=("S6",),
    title="A memory keeps its id over later Searches and Adds.",
    why="Whoever joins results by id counts one memory twice, or loses it.",
    fix="Derive ids from what was stored, not from the answer, a counter or a random number.",
    cost=Cost(adds=2, searches=3),
    modes=(58,),
)
async def ids_stable(trial: Trial) -> None:
    """The same Search twice, then once more after an unrelated Add."""
    user, topic = await told(trial, 3)
    first = await trial.search_exchange(user, topic.query)
    second = await trial.search_exchange(user, topic.query)
    await trial.add(user, trial.ns.marker().text)
    third = await trial.search_exchange(user, topic.query)
    for when, later in (("when the Search was repeated", second), ("after a later Add", third)):
        changed = changed_id(trial.items(first), trial.items(later))
        trial.require(
            changed is None,
            f"a memory changed its id {when}: {changed and changed[0]!r} became "
            f"{changed and changed[1]!r}",
            first,
            later,
        )


@rule(
    "order/exact-first",
    level=Level.SHOULD,
    clauses=("S5",),
    title="The query's own text, if it is stored, comes first.",
    why="The list is most relevant first; what stands below the cut is never read.",
    fix="Check the sign of distances and the direction of the final sort.",
    cost=Cost(adds=5, searches=2),
    cases=("B25",),
)
async def exact_first(trial: Trial) -> None:
    """Five unlike messages in sessions of their own; an early and a late one are quoted."""
    user = trial.ns.user()
    markers = [trial.ns.marker() for _ in range(5)]
    for marker in markers:
        await trial.add(user, marker.text)
    for marker in (markers[1], markers[3]):
        exchange = await trial.search_exchange(user, marker.text)
        items = trial.items(exchange)
        showing = trial.showing(items, marker)
        if not showing:
            raise NotTested("a stored message is not found (see visibility/immediate)", exchange)
        place = items.index(showing[0]) + 1
        trial.require(
            place == 1,
            f"the query quotes a stored message word for word, yet it comes back in place "
            f"{place} of {len(items)}",
            exchange,
        )


async def told(trial: Trial, count: int) -> tuple[str, Topic]:
    """A user who was told ``count`` messages about one thing."""
    user, topic = trial.ns.user(), trial.ns.topic(count)
    await trial.add(user, *(marker.text for marker in topic.markers))
    return user, topic


def scores(exchange: Exchange) -> list[Any]:
    """The scores that are present, read leniently: NaN must be seen, not refused.

    Raises:
        NotTested: the answer has no readable ``data`` list.
    """
    try:
        data = json.loads(exchange.reply)["data"]
        return [item["score"] for item in data if isinstance(item, dict) and "score" in item]
    except (ValueError, KeyError, TypeError, RecursionError):
        raise NotTested(
            "a Search answer has no data list (see structure/search-envelope)", exchange
        ) from None
