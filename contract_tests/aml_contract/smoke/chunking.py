"""How the platform cuts a conversation into Adds (wire contract, after clause A14)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from aml_contract.smoke.locomo import Session, Turn

MESSAGES_PER_CHUNK = 20
WORDS_PER_CHUNK = 2_000
CHARACTERS_PER_MESSAGE = 8_000

CJK = (
    "\u3040-\u30ff\u31f0-\u31ff"  # kana
    "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"  # Han
    "\uac00-\ud7af"  # Hangul syllables
    "\U00020000-\U0003ffff"  # Han, supplementary planes
)
"""Characters that are words by themselves, as the inside of a character class."""
_WORD = re.compile(f"[{CJK}]|[^\\s{CJK}]+")


@dataclass(frozen=True)
class Message:
    """One message as it is sent; ``turn`` is the id of the turn it came from."""

    content: str
    timestamp: int
    """Unix milliseconds (clause A7)."""
    turn: str


def count_words(text: str) -> int:
    """White-space words, where a CJK character is a word by itself: ``用API配置`` has 4."""
    return sum(1 for _ in _WORD.finditer(text))


def content_of(turn: Turn) -> str:
    """``Speaker: text [image: caption]``, the speaker's name inside the text."""
    picture = f" [image: {turn.caption}]" if turn.caption else ""
    return f"{turn.speaker}: {turn.text}{picture}"


def pieces(text: str, size: int = CHARACTERS_PER_MESSAGE) -> list[str]:
    """The text cut after every ``size`` code points, wherever that falls."""
    return [text[start : start + size] for start in range(0, len(text), size)]


def messages_of(session: Session) -> list[Message]:
    """A session's messages: one second apart by turn, long ones cut into several."""
    start = int(session.date.timestamp())
    return [
        Message(piece, (start + number) * 1_000, turn.id)
        for number, turn in enumerate(session.turns)
        for piece in pieces(content_of(turn))
    ]


def chunks(messages: Iterable[Message]) -> Iterator[tuple[Message, ...]]:
    """Cut one session's messages at 20 messages or 2,000 words, whichever comes first.

    A chunk stays within both limits, unless one message alone is over the words.
    """
    chunk: list[Message] = []
    words = 0
    for message in messages:
        size = count_words(message.content)
        if chunk and (len(chunk) == MESSAGES_PER_CHUNK or words + size > WORDS_PER_CHUNK):
            yield tuple(chunk)
            chunk, words = [], 0
        chunk.append(message)
        words += size
    if chunk:
        yield tuple(chunk)
