"""Tokens as the answer model counts them (o200k), offline; other models' differ a little."""

from __future__ import annotations

import warnings
from functools import cache
from typing import Any

_PIECE = 100_000
"""Characters encoded at a time: the tokenizer refuses a million, and slows down before."""


def count(text: str) -> int:
    """How many tokens a text has; special tokens in it are ordinary text."""
    return sum(
        len(_encoding().encode_ordinary(text[start : start + _PIECE]))
        for start in range(0, len(text), _PIECE)
    )


def cut(text: str, most: int) -> str:
    """The beginning of a text that has at most ``most`` tokens; no character is cut in two."""
    if len(text.encode("utf-8", "replace")) <= most:
        return text  # a token is a byte at least
    tokens: list[int] = []
    for start in range(0, len(text), _PIECE):
        tokens += _encoding().encode_ordinary(text[start : start + _PIECE])
        if len(tokens) > most:
            beginning: str = _encoding().decode(tokens[:most])
            return beginning.rstrip("\ufffd")
    return text


@cache
def _encoding() -> Any:
    with warnings.catch_warnings():
        # It reads its vocabulary in a way that Python deprecates; not our users' trouble.
        warnings.simplefilter("ignore", DeprecationWarning)
        # Imported late: it reads several vocabularies, which takes half a second.
        import bpe_openai  # noqa: PLC0415  see above

        return bpe_openai.get_encoding("o200k_base")
