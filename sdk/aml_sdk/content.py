"""What a message or a query holds: plain text or ordered parts (clause A6), and its time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta

from aml_sdk._gen.models import ContentPart, ImagePart, Message, TextPart

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def text_of(content: str | Sequence[ContentPart]) -> str:
    """The text alone: a string as it is, text parts joined by newlines (clause S7)."""
    if isinstance(content, str):
        return content
    return "\n".join(part.text for part in content if isinstance(part, TextPart))


def images_of(content: str | Sequence[ContentPart]) -> Iterator[ImagePart]:
    """The image parts, in order."""
    if not isinstance(content, str):
        yield from (part for part in content if isinstance(part, ImagePart))


def decoded_size(url: str) -> int:
    """Bytes that an image's URL stands for, without decoding it (clause M1); remote ones have none.

    Exact for ``data:…;base64,`` as the server lets it pass: padded, and without white space.
    """
    start = url.find(",") + 1
    if not url[:start].lower().endswith(";base64,"):
        return 0
    padding = 2 if url.endswith("==") else int(url.endswith("="))
    return (len(url) - start) * 3 // 4 - padding


def is_blank_content(content: str | Sequence[ContentPart]) -> bool:
    """Whether nothing but white space is said and no image is shown."""
    if isinstance(content, str):
        return not content.strip()
    return all(isinstance(part, TextPart) and not part.text.strip() for part in content)


def is_blank(message: Message) -> bool:
    """Whether the message is a blank turn, which an Add skips (clause A9)."""
    return is_blank_content(message.content)


def event_time(timestamp: int | None) -> datetime | None:
    """A message's time in UTC; ``None`` if unknown or past the year 9999 (clause A7).

    Its ``isoformat()`` is what ``created_at`` wants (clause S9).
    """
    try:
        return None if timestamp is None else _EPOCH + timedelta(milliseconds=timestamp)
    except OverflowError:
        return None
