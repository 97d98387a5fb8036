"""Long texts in passages, none of which says too much for one vector."""

from __future__ import annotations

PASSAGE = 800
"""Characters of a passage at most, unless the text is very long."""
MOST = 64
"""Passages of a text: a longer text has longer ones, which are embedded by their beginning."""

_ENDS = ("\n", "。", ". ", "! ", "? ", "！", "？", "; ", ", ", "，", " ")
"""Where a text is best cut, best first: behind these."""


def passages(text: str) -> list[str]:
    """The text in pieces that together are the text, code point for code point.

    Pieces end with a line, a sentence or a word if one ends in their second half.
    """
    size = max(PASSAGE, -(-2 * len(text) // MOST))
    pieces = []
    start = 0
    while len(text) - start > size:
        end = start + size
        half = start + size // 2
        for mark in _ENDS:
            found = text.rfind(mark, half, end)
            if found >= 0:
                end = found + len(mark)
                break
        pieces.append(text[start:end])
        start = end
    return [*pieces, text[start:]]
