"""The key that a request must carry (clauses K1, K2)."""

from __future__ import annotations

import hmac
from collections.abc import Iterable
from contextlib import suppress

from aml_sdk.server.problem import Problem
from aml_sdk.server.settings import AuthScheme

_SCHEMES = {"bearer": b"bearer", "token": b"token"}
_CHALLENGES = {"bearer": "Bearer", "token": "Token", "x-api-key": "X-Api-Key"}


class KeyCheck:
    """Compares the key of a request in constant time, in bytes, under one scheme."""

    def __init__(self, scheme: AuthScheme, key: str | None) -> None:
        self._scheme = scheme
        self._header = b"x-api-key" if scheme == "x-api-key" else b"authorization"
        text = (key or "").strip()
        self._accepted = [text.encode("utf-8", "surrogateescape")]
        # A key that is no ASCII arrives as UTF-8 or as Latin-1, as the client pleases.
        with suppress(UnicodeEncodeError):
            self._accepted.append(text.encode("latin-1"))

    def check(self, headers: Iterable[tuple[bytes, bytes]]) -> None:
        """Let the request pass.

        Raises:
            Problem: 401, the key is missing, wrong, or sent under another scheme.
        """
        if self._scheme == "none":
            return
        sent = [value for name, value in headers if name == self._header]
        if len(sent) != 1 or not self._matches(sent[0]):
            challenge = _CHALLENGES[self._scheme]
            raise Problem(
                401,
                f"a valid key is needed ({challenge} scheme)",
                headers={"WWW-Authenticate": challenge},
            )

    def _matches(self, value: bytes) -> bool:
        if self._scheme != "x-api-key":
            scheme, _, value = value.strip().partition(b" ")
            if scheme.lower() != _SCHEMES[self._scheme]:
                return False
        value = value.strip()
        matches = False
        for key in self._accepted:  # no early exit: each comparison takes its full time
            matches |= hmac.compare_digest(value, key)
        return matches
