"""The key of an endpoint: its scheme, its header, and how it is kept out of everything shown."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property
from urllib.parse import quote

PLACEHOLDER = "$AML_KEY"
"""Stands for the key in every exchange, report and ``curl``."""

_LONG = 8

_SECRET_HEADERS = frozenset({"authorization", "x-api-key", "proxy-authorization"})


class Scheme(StrEnum):
    """How a key travels (clause K1)."""

    BEARER = "bearer"
    TOKEN = "token"  # noqa: S105  the scheme's name
    X_API_KEY = "x-api-key"
    NONE = "none"


def key_header(scheme: Scheme, key: str) -> dict[str, str]:
    """The header that carries ``key`` under ``scheme``; empty for ``none``."""
    match scheme:
        case Scheme.BEARER:
            return {"authorization": f"Bearer {key}"}
        case Scheme.TOKEN:
            return {"authorization": f"Token {key}"}
        case Scheme.X_API_KEY:
            return {"x-api-key": key}
        case Scheme.NONE:
            return {}


@dataclass(frozen=True)
class Auth:
    """A scheme and its key. The key is in no ``repr`` and in no exchange (clause K3)."""

    scheme: Scheme = Scheme.NONE
    key: str = field(default="", repr=False)

    @property
    def headers(self) -> dict[str, str]:
        """The header that authenticates a request."""
        return key_header(self.scheme, self.key)

    def redact(self, text: str) -> str:
        """``text`` with every spelling of the key replaced by ``$AML_KEY``.

        Of a key that is no short word, also what rules try instead of it: another case,
        and all but its first or last character, which an endpoint may repeat.
        """
        return self._spellings.sub(lambda _: PLACEHOLDER, text) if self.key else text

    @cached_property
    def _spellings(self) -> re.Pattern[str]:
        long = len(self.key) >= _LONG
        keys = {self.key}
        if long:
            keys |= {self.key[:-1], self.key[1:], self.key.swapcase()}
        # Many servers read headers as Latin-1.
        keys |= {key.encode().decode("latin-1") for key in keys}
        written = {form for key in keys for form in (key, json.dumps(key)[1:-1], quote(key, ""))}
        longest_first = sorted(written, key=lambda form: (-len(form), form))
        return re.compile("|".join(map(re.escape, longest_first)), re.IGNORECASE if long else 0)

    def shown_headers(self, sent: Mapping[str, str]) -> dict[str, str]:
        """Headers fit to be kept: names in lower case, no key and nothing made of it."""
        return {name.lower(): self._shown(name.lower(), value) for name, value in sent.items()}

    def _shown(self, name: str, value: str) -> str:
        shown = self.redact(value)
        if shown == value and name in _SECRET_HEADERS and self._resembles(value):
            return f"(a variation of {PLACEHOLDER})"
        return shown

    def _resembles(self, value: str) -> bool:
        """Whether ``value`` holds half of the key: a prefix, a suffix, another case."""
        folded, half = self.key.casefold(), len(self.key) // 2
        return half > 0 and (
            folded[: len(folded) - half] in value.casefold() or folded[half:] in value.casefold()
        )
