"""Resemblance: what two ids that a server took for one have in common, in words."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable
from typing import Literal

_LONG = 60
"""Characters that a beginning must have to be worth a word."""


def _without(
    categories: tuple[str, ...], form: Literal["NFC", "NFD"] = "NFC"
) -> Callable[[str], str]:
    """Drops characters of these Unicode categories from a text in this form."""

    def reduced(text: str) -> str:
        kept = unicodedata.normalize(form, text)
        return "".join(c for c in kept if not unicodedata.category(c).startswith(categories))

    return reduced


_REDUCTIONS: tuple[tuple[str, Callable[[str], str]], ...] = (
    ("the two ids differ only in case", str.casefold),
    ("the two ids differ only in white space at their ends", str.strip),
    ("the two ids are one text in two Unicode forms", lambda t: unicodedata.normalize("NFC", t)),
    (
        "the two ids are one text under compatibility normalisation (NFKC)",
        lambda t: unicodedata.normalize("NFKC", t),
    ),
    ("the two ids differ only in invisible characters", _without(("Cc", "Cf"))),
    ("the two ids differ only in accents", _without(("M",), "NFD")),
    ("the two ids differ only in separators", _without(("P", "S", "Z"))),
)
"""What a careless server does to ids, the simplest first, and what it leaves equal."""


def resemblance(one: str, other: str) -> str:
    """Why a server may have taken one id for the other; empty if nothing is known.

    ``isolation/unicode-twins`` failing for ids that differ only in case is the fault of
    ``isolation/case-twins``: whoever reads the message should see that at once.
    """
    for words, reduce in _REDUCTIONS:
        if reduce(one) == reduce(other) != "":
            return words
    shorter, longer = sorted((one, other), key=len)
    if shorter and longer.startswith(shorter):
        return "one id is the beginning of the other"
    same = next(
        (n for n, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), len(shorter)
    )
    return f"the two ids begin with the same {same} characters" if same >= _LONG else ""
