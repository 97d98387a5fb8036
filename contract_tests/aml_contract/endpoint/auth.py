"""The key of an endpoint: its scheme, its header, and how it is kept out of everything shown."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from urllib.parse import quote

PLACEHOLDER = "$AML_KEY"
"""Stands for the key in every exchange, report and ``curl``."""

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
        """``text`` with every spelling of the key replaced by ``$AML_KEY``."""
        if not self.key:
            return text
        spellings = {self.key, json.dumps(self.key)[1:-1], quote(self.key, safe="")}
        for spelling in sorted(spellings, key=len, reverse=True):
            text = text.replace(spelling, PLACEHOLDER)
        return text

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
