"""Text that was written for people, as Markdown shows it unchanged."""

from __future__ import annotations

import re

_SPECIAL = re.compile(r"([\\*_\[\]<>#|])")
_CODE = re.compile(r"(`[^`]+`)")
_UNSHOWN = re.compile(r"[\x00-\x08\x0b-\x1f\x7f\ud800-\udfff]")


def escaped(text: str) -> str:
    """Plain text; what stands between backticks stays code."""
    parts = _CODE.split(text)
    return "".join(part if _CODE.fullmatch(part) else _SPECIAL.sub(r"\\\1", part) for part in parts)


def cell(text: str) -> str:
    """Text for a cell of a table."""
    return escaped(" ".join(text.split()))


def fenced(text: str, language: str) -> str:
    """A block of code, whatever is in it."""
    shown = _UNSHOWN.sub(lambda match: f"\\x{ord(match[0]):02x}", text)
    fence = "`" * max(3, 1 + max(map(len, re.findall(r"`+", shown)), default=0))
    return f"{fence}{language}\n{shown}\n{fence}"
