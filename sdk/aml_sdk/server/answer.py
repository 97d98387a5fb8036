"""What a system found, as the contract wants it on the wire (clauses S5-S10, M1)."""

from __future__ import annotations

import logging
import sys
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from typing import Any

from pydantic_core import PydanticSerializationError, to_json

from aml_sdk._gen.models import ImagePart, Memory, TextPart
from aml_sdk.content import decoded_size, images_of, text_of
from aml_sdk.server.logs import log

_Item = dict[str, Any]
_NUMBERS = (int, float)  # a union would be made anew for each item
_LARGEST = sys.float_info.max


class NotMemories(TypeError):  # noqa: N818  named for what came back
    """What ``search`` returned is no sequence of :class:`Memory`; tells types alone."""


def search_body(memories: Iterable[Memory], *, top_k: int, max_images: int) -> tuple[bytes, int]:
    """The body of a Search answer and the number of items in it.

    One invalid item would be a contract error of the whole answer (clause S10), so it is
    left out and logged; an optional field that is invalid is left out alone. What exceeds
    ``top_k`` items, or ``max_images`` bytes of images, is cut at the end.

    Raises:
        NotMemories: the system returned something else.
    """
    if isinstance(memories, str | bytes | Mapping) or not isinstance(memories, Iterable):
        raise NotMemories(f"search returned {type(memories).__name__}, not a list of Memory")
    items: dict[str, _Item] = {}
    images = 0
    dropped = 0
    for memory in memories:
        if not isinstance(memory, Memory):
            raise NotMemories(f"search returned a list of {type(memory).__name__}, not of Memory")
        item = _item(memory)
        if item is None or item["id"] in items:
            dropped += 1
            continue
        if len(items) == top_k:
            log(logging.WARNING, "answer cut", reason="more than top_k items", top_k=top_k)
            break
        if not isinstance(item["content"], str):
            images += _images_size(memory)
            if images > max_images:
                log(logging.WARNING, "answer cut", reason="images", limit=max_images)
                break
        items[item["id"]] = item
    if dropped:
        log(logging.WARNING, "items dropped", reason="invalid or repeated id", items=dropped)
    return _encoded(list(items.values()))


def _encoded(items: list[_Item]) -> tuple[bytes, int]:
    try:
        return to_json({"data": items}), len(items)
    except (PydanticSerializationError, UnicodeEncodeError):
        good = list(_encodable(items))
        log(logging.WARNING, "items dropped", reason="no Unicode", items=len(items) - len(good))
        return to_json({"data": good}), len(good)


def _encodable(items: Iterable[_Item]) -> Iterator[_Item]:
    for item in items:
        try:
            to_json(item)
        except (PydanticSerializationError, UnicodeEncodeError):
            continue
        yield item


def _item(memory: Memory) -> _Item | None:
    """The four fields that are read, or nothing for an item that is invalid.

    Types are checked though the model did: a system may have built it unchecked.
    """
    identifier: Any = memory.id
    content: Any = memory.content
    if not isinstance(identifier, str) or not identifier.strip():
        return None
    if not isinstance(content, str):
        content = _joined(content)
    if not content or (isinstance(content, str) and not content.strip()):
        return None
    item: _Item = {"id": identifier, "content": content}
    score: Any = memory.score
    # NaN, infinities and integers beyond every float are nothing that JSON can carry (clause S8).
    if isinstance(score, _NUMBERS) and not isinstance(score, bool) and abs(score) <= _LARGEST:
        item["score"] = score
    if _is_date(memory.created_at):
        item["created_at"] = memory.created_at
    return item


def _joined(content: Any) -> str | list[dict[str, Any]] | None:
    """The text; parts only where an image is among them (clause S7)."""
    if not isinstance(content, list | tuple):
        return None
    if not all(isinstance(part, TextPart | ImagePart) for part in content):
        return None
    if any(isinstance(part, ImagePart) for part in content):
        return [part.model_dump() for part in content]
    return text_of(content)


def _images_size(memory: Memory) -> int:
    return sum(decoded_size(part.image_url.url) for part in images_of(memory.content))


def _is_date(value: Any) -> bool:
    """Whether it is ISO 8601 with an offset (clause S9)."""
    if not isinstance(value, str):
        return False
    try:
        return datetime.fromisoformat(value).tzinfo is not None
    except ValueError:
        return False
