"""An exchange: one request as it was sent and what came back, in bytes."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal

Operation = Literal["add", "search", "health"]

RETRYABLE_ADD = frozenset({408, 409, 425, 429, 500, 502, 503, 504, 524})
RETRYABLE_SEARCH = RETRYABLE_ADD - {409, 524}

_KEPT = 64 * 2**10


class NotStrictJSONError(ValueError):
    """The body is no strict JSON: it does not parse, repeats a key, or holds NaN."""


@dataclass(frozen=True)
class Exchange:
    """One request and its answer.

    ``status`` is ``None`` when no answer came; ``error`` then says why in words.
    Header names are lower case. ``seconds`` runs from the first byte sent to the last
    byte received. Secrets never enter an exchange: the key is left out of ``headers``
    (see :mod:`aml_contract.endpoint.curl`).
    """

    operation: Operation
    method: str
    url: str
    headers: Mapping[str, str]
    body: bytes
    status: int | None
    reply_headers: Mapping[str, str]
    reply: bytes
    seconds: float
    started: float
    """Seconds since the run began."""
    error: str | None = None

    @cached_property
    def json(self) -> Any:
        """The answer parsed strictly.

        Raises:
            NotStrictJSONError: not UTF-8, not JSON, a repeated key, NaN or Infinity.
        """
        return parse_strict(self.reply)

    @property
    def light(self) -> Exchange:
        """The same with no more than the beginning of a long answer: to be kept for long."""
        return self if len(self.reply) <= _KEPT else replace(self, reply=self.reply[:_KEPT])

    @property
    def retryable(self) -> bool:
        """Whether the platform would send this request again (clauses F, F1)."""
        codes = RETRYABLE_ADD if self.operation == "add" else RETRYABLE_SEARCH
        return self.status is None or self.status in codes

    @property
    def summary(self) -> str:
        """``200`` or the reason why there is no status: for messages."""
        return self.error or "no answer" if self.status is None else str(self.status)


def parse_strict(text: bytes) -> Any:
    """Parse JSON as the strictest reader would.

    Raises:
        NotStrictJSONError: with the reason in words.
    """

    def no_constant(name: str) -> Any:
        raise NotStrictJSONError(f"{name} is not JSON")

    def no_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        made = dict(pairs)
        if len(made) != len(pairs):
            raise NotStrictJSONError("an object repeats a key")
        return made

    try:
        return json.loads(
            text.decode("utf-8"), parse_constant=no_constant, object_pairs_hook=no_repeats
        )
    except NotStrictJSONError:
        raise
    except (ValueError, RecursionError) as error:
        raise NotStrictJSONError(str(error)) from error
