"""Lists of results compared: order and ids (clauses S5, S6)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from aml_contract.item import Item


def same_order(first: Sequence[Item], second: Sequence[Item]) -> bool:
    """By id, or by text where the ids themselves do not last (``order/ids-stable``)."""
    return [i.id for i in first] == [i.id for i in second] or (
        {i.id for i in first}.isdisjoint(i.id for i in second)
        and [i.content for i in first] == [i.content for i in second]
    )


def changed_id(before: Sequence[Item], after: Sequence[Item]) -> tuple[Any, Any] | None:
    """An old and a new id of one text that appears once in both lists under two ids."""
    old, new = _by_text(before), _by_text(after)
    for text, ids in old.items():
        later = new.get(text, [])
        if len(ids) == len(later) == 1 and ids != later:
            return ids[0], later[0]
    return None


def _by_text(items: Sequence[Item]) -> dict[str, list[Any]]:
    texts: dict[str, list[Any]] = {}
    for item in items:
        texts.setdefault(item.content, []).append(item.id)
    return texts
