"""Answers read as the strictest reader would, and their values in words."""

from __future__ import annotations

from typing import Any

from aml_contract.exchange import Exchange, NotStrictJSONError
from aml_contract.finding import NotTested


def read_strictly(exchange: Exchange, judge: str) -> Any:
    """The answer as JSON.

    Args:
        exchange: the answer.
        judge: the rule that says so if it is none.

    Raises:
        NotTested: it is no strict JSON.
    """
    try:
        return exchange.json
    except NotStrictJSONError as error:
        raise NotTested(f"the answer is not strict JSON (see {judge})", exchange) from error


def kind_of(value: Any) -> str:
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
