"""``errors/invalid-fields``: each required field in turn, missing or of the wrong type (F3)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from aml_contract.exchange import Exchange, Operation
from aml_contract.outcome import Level
from aml_contract.rule import Cost, rule
from aml_contract.techniques.steps import attempt, crashed, refused, see_working, valid_pair
from aml_contract.trial import Trial


@rule(
    "errors/invalid-fields",
    level=Level.SHOULD,
    clauses=("F3", "A1", "A2", "A3", "A4", "A5", "A6", "A7", "S1", "S2"),
    title="A missing field or one of the wrong type is refused with a 4xx.",
    why="A 5xx is sent again up to 32 times; a 200 hides the caller's mistake in the data.",
    fix="Validate every required field by presence and type before any work.",
    cost=Cost(adds=34, searches=14),
    peers=(
        "P96", "P97", "P98", "P101", "P102", "P103", "P104", "P106", "P107", "P109", "P110",
    ),
    cases=("B17", "B18", "B31"),
)  # fmt: skip
async def invalid_fields(trial: Trial) -> None:
    """Every field, side by side; all server errors are one finding, all leniency one warning."""
    broke: list[tuple[str, Exchange]] = []
    lenient: list[tuple[str, Exchange]] = []
    tries = list(invalid(trial))
    answers = await trial.together(
        *(attempt(trial, operation, wrong, attempts=2) for operation, _, wrong in tries)
    )
    for (_, name, _), made in zip(tries, answers, strict=True):
        if crashed(made):
            broke.append((name, made))
        elif not refused(made):
            lenient.append((name, made))
    for operation in {made.operation for _, made in (*broke, *lenient)}:
        await see_working(trial, operation)
    if lenient:
        names = "; ".join(name for name, _ in lenient)
        trial.warn(f"accepted as if valid: {names}", lenient[0][1])
    if broke:
        names = "; ".join(f"{name} ({made.summary})" for name, made in broke)
        trial.fail(f"a server error instead of a 4xx: {names}", broke[0][1])


def invalid(trial: Trial) -> Iterator[tuple[Operation, str, Any]]:
    """Every request that lacks a field or has one of the wrong type, and its name."""
    (_, add), (_, search) = valid_pair(trial)

    def without(body: dict[str, Any], key: str) -> dict[str, Any]:
        return {name: value for name, value in body.items() if name != key}

    def fresh() -> dict[str, Any]:
        return add | {"request_id": trial.ns.request(), "user_id": trial.ns.user()}

    for key in ("request_id", "user_id", "session_id"):
        yield "add", f"Add without {key}", without(fresh(), key)
        for name, value in (("null", None), ("a number", 7), ("a list", ["x"]), ("empty", "")):
            yield "add", f"Add with {key} {name}", fresh() | {key: value}
    yield "add", "Add without messages", without(fresh(), "messages")
    odd: tuple[tuple[str, Any], ...] = (
        ("null", None), ("empty", []), ("a text", "hello"), ("an object", {"role": "user"}),
        ("a list of texts", ["hello"]),
    )  # fmt: skip
    for name, value in odd:
        yield "add", f"Add with messages {name}", fresh() | {"messages": value}
    message = add["messages"][0]
    for name, wrong in (
        ("without role", without(message, "role")),
        ("with role null", message | {"role": None}),
        ("with role a number", message | {"role": 7}),
        ("without content", without(message, "content")),
        ("with content null", message | {"content": None}),
        ("with content a number", message | {"content": 7}),
        ("with content an object", message | {"content": {"text": "x"}}),
        ("with an unknown part type", message | {"content": [{"type": "smell", "smell": "x"}]}),
        ("with timestamp a text", message | {"timestamp": "yesterday"}),
        ("with timestamp a boolean", message | {"timestamp": True}),
    ):
        yield "add", f"message {name}", fresh() | {"messages": [wrong]}
    for key in ("query", "user_id"):
        yield "search", f"Search without {key}", without(search, key)
        for name, value in (*odd[:1], ("a number", 7), ("an object", {"x": 1})):
            yield "search", f"Search with {key} {name}", search | {key: value}
    yield "search", "Search with user_id empty", search | {"user_id": ""}
    yield "search", "Search with options a text", search | {"options": "A"}
    yield "search", "Search with options an object", search | {"options": {"A": "x"}}
    yield "search", "Search with options a list of numbers", search | {"options": [1, 2]}
