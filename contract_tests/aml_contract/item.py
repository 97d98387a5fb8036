"""Items: one search result each, read as leniently as any reader would."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from aml_contract.exchange import Exchange, NotStrictJSONError
from aml_contract.finding import NotTested


@dataclass(frozen=True)
class Item:
    """One search result, as far as it could be read leniently."""

    id: Any
    content: str
    """The text; of a part list, its text parts joined by newlines."""
    raw: Mapping[str, Any]


def items_of(exchange: Exchange) -> list[Item]:
    """Whatever looks like an item in a Search answer.

    Raises:
        NotTested: the answer has no readable ``data`` list.
    """
    if exchange.flood:
        raise NotTested(
            f"a Search answer is {exchange.cut} (see structure/legal-requests)", exchange
        )
    try:
        data = exchange.json["data"]
    except (NotStrictJSONError, KeyError, TypeError):
        data = None
    if not isinstance(data, list):
        raise NotTested(
            "a Search answer has no data list (see structure/search-envelope)", exchange
        )
    return [Item(d.get("id"), text_of(d.get("content")), d) for d in data if isinstance(d, dict)]


def text_of(content: Any) -> str:
    """The text of a ``content`` value: itself, or its text parts joined by newlines."""
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        texts = [part.get("text") for part in content if isinstance(part, dict)]
        return "\n".join(text for text in texts if isinstance(text, str))
    return ""
