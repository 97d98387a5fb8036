"""Rate limits as people declare them: ``600 requests a minute``, ``10/s``."""

from __future__ import annotations

import re

_SECONDS = {"s": 1, "m": 60, "h": 3_600, "d": 86_400}
_RATE = re.compile(
    r"(?P<count>\d[\d,_. ]*?)\s*(?P<kilo>k)?\s*"
    r"(?:(?:requests?|req|calls?|adds?(?:\s+and\s+searches)?)\s*)?"
    r"(?:/|\bper\b|\ba\b|\ban\b|\beach\b|\bevery\b)\s*"
    r"(?P<unit>s(?:ec(?:ond)?s?)?|m(?:in(?:ute)?s?)?|h(?:ours?)?|d(?:ays?)?)\b",
    re.IGNORECASE,
)


def rate_of(words: str) -> float | None:
    """Requests a second that declared limits allow: the tightest of them.

    Returns:
        ``None`` if no number of requests in a time is named.
    """
    rates = [
        float(re.sub(r"[,_ ]", "", found["count"]).rstrip("."))
        * (1_000 if found["kilo"] else 1)
        / _SECONDS[found["unit"][0].lower()]
        for found in _RATE.finditer(words)
    ]
    return min((rate for rate in rates if rate > 0), default=None)
