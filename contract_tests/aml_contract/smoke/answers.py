"""Reading answers as the platform does: what it cannot read ends the stage."""

from __future__ import annotations

from typing import Any

from aml_contract.exchange import Exchange, NotStrictJSONError
from aml_contract.item import text_of


class ContractBrokenError(Exception):
    """An answer that ends the platform's stage: its exchange, the clause and the reason."""

    def __init__(self, message: str, clause: str, exchange: Exchange) -> None:
        super().__init__(message)
        self.clause = clause
        self.exchange = exchange


def check_add(exchange: Exchange, tries: int, body: dict[str, Any]) -> None:
    """Accept an Add only as clause A11 words it.

    Raises:
        ContractBrokenError: no 200, or another shape than success with the request's ids.
    """
    reply = _object(exchange, tries, "Add", "A11")
    if reply.get("success") is not True:
        raise ContractBrokenError(
            f"the answer to an Add has success {reply.get('success')!r}, not true", "A11", exchange
        )
    for key in ("request_id", "user_id", "session_id"):
        if reply.get(key) != body[key]:
            raise ContractBrokenError(
                f"the answer to an Add has {key} {reply.get(key)!r}, not the request's",
                "A11",
                exchange,
            )


def contents(exchange: Exchange, tries: int, top_k: int) -> list[str]:
    """The texts of a Search answer, in order; of a part list, its text parts.

    Raises:
        ContractBrokenError: no 200, another shape, too many items, or an invalid one.
    """
    data = _object(exchange, tries, "Search", "S5").get("data")
    if not isinstance(data, list):
        raise ContractBrokenError("the answer to a Search has no data list", "S5", exchange)
    if len(data) > top_k:
        raise ContractBrokenError(f"{len(data)} items came back for top_k {top_k}", "S10", exchange)
    for number, item in enumerate(data, 1):
        if not isinstance(item, dict):
            raise ContractBrokenError(f"item {number} is no object", "S10", exchange)
        for key, clause, kinds in (("id", "S6", str), ("content", "S7", (str, list))):
            if not isinstance(item.get(key), kinds) or not item[key]:
                raise ContractBrokenError(
                    f"item {number} has {key} {item.get(key)!r}, which must not be empty",
                    clause,
                    exchange,
                )
    return [text_of(item["content"]) for item in data]


def _object(exchange: Exchange, tries: int, name: str, clause: str) -> dict[str, Any]:
    if exchange.status != 200:
        often = f" at the last of {tries} tries" if tries > 1 else ""
        article = "an" if name == "Add" else "a"
        raise ContractBrokenError(
            f"{article} {name} was answered {exchange.summary}{often}",
            "A13" if name == "Add" else "S11",
            exchange,
        )
    try:
        reply = exchange.json
    except NotStrictJSONError as error:
        raise ContractBrokenError(
            f"the answer to a {name} is no strict JSON: {error}", clause, exchange
        ) from error
    if not isinstance(reply, dict):
        raise ContractBrokenError(f"the answer to a {name} is no object", clause, exchange)
    return reply
