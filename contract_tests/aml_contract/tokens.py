"""Counting tokens as the answer model does (o200k), offline."""

from __future__ import annotations

import warnings
from functools import cache
from typing import Any

ANSWER_BUDGET = 117_760
"""Input tokens of the answer model; it reads the results from the front (clause S14)."""

_PIECE = 100_000
"""Characters encoded at a time: the tokenizer refuses a million, and slows down before."""


def encode(text: str) -> list[int]:
    """The o200k tokens of a text; special tokens in it are ordinary text."""
    encoding = _encoding()
    return [
        token
        for start in range(0, len(text), _PIECE)
        for token in encoding.encode_ordinary(text[start : start + _PIECE])
    ]


def decode(tokens: list[int]) -> str:
    """The text of tokens; a character cut in two becomes U+FFFD."""
    text: str = _encoding().decode(tokens)
    return text


@cache
def _encoding() -> Any:
    with warnings.catch_warnings():
        # It reads its vocabulary in a way that Python deprecates; not our users' trouble.
        warnings.simplefilter("ignore", DeprecationWarning)
        # Imported late: it reads several vocabularies, which takes half a second.
        import bpe_openai  # noqa: PLC0415  see above

        return bpe_openai.get_encoding("o200k_base")
