"""An exchange: one request as it was sent and what came back, in bytes."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal

Operation = Literal["add", "search", "health"]

RETRYABLE_ADD = frozenset({408, 409, 425, 429, 500, 502, 503, 504, 524})
RETRYABLE_SEARCH = RETRYABLE_ADD - {409, 524}

KEPT = 64 * 2**10
"""Bytes of a long answer that are kept for a whole run, or at all if it was cut."""
_KEPT_BODY = 2**20
_LARGE = 2**20
"""Bytes of an answer from which on parsing it would hold up everybody else."""


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
    cut: str | None = None
    """What is wrong with an answer that was read no further (``larger than 50 MiB``): the
    status stands, and ``reply`` is its beginning."""
    dropped: int = 0
    """Bytes of the request's body that are not kept here."""

    @property
    def json(self) -> Any:
        """The answer parsed strictly, once.

        Raises:
            NotStrictJSONError: not UTF-8, not JSON, a repeated key, NaN or Infinity; or it
                was not read to its end.
        """
        value, trouble = self._parsed
        if trouble is not None:
            raise NotStrictJSONError(trouble)
        return value

    @cached_property
    def _parsed(self) -> tuple[Any, str | None]:
        if self.cut:
            return None, f"it is {self.cut}, and was read no further"
        try:
            return parse_strict(self.reply), None
        except NotStrictJSONError as error:
            return None, str(error)

    async def parsed(self) -> Exchange:
        """The same; a large answer is parsed beside the event loop, which others need."""
        if len(self.reply) > _LARGE:
            await asyncio.to_thread(lambda: self._parsed)
        return self

    @property
    def light(self) -> Exchange:
        """The same with no more than the beginning of a long answer: to be kept for long.

        A body too large for that is left out: half of one is of no use.
        """
        made = self
        if len(made.reply) > KEPT:
            made = replace(made, reply=made.reply[:KEPT])
        if len(made.body) > _KEPT_BODY:
            made = replace(made, body=b"", dropped=len(made.body))
        return made

    @property
    def retryable(self) -> bool:
        """Whether the platform would send this request again (clauses F, F1)."""
        codes = RETRYABLE_ADD if self.operation == "add" else RETRYABLE_SEARCH
        return self.status is None or self.status in codes

    @property
    def summary(self) -> str:
        """``200`` or the reason why there is no status: for messages."""
        if self.status is None:
            return self.error or "no answer"
        return f"{self.status}, with an answer {self.cut}" if self.flood else str(self.status)

    @property
    def flood(self) -> bool:
        """Whether it is a success that no reader would have read to its end (S10, M1)."""
        return self.status == 200 and self.cut is not None


def parse_strict(text: bytes) -> Any:
    """Parse JSON as the strictest reader would.

    Raises:
        NotStrictJSONError: with the reason in words.
    """
    begins = text.lstrip()[:1]
    if not begins:
        raise NotStrictJSONError("it is empty")
    if begins == b"<":
        page = "a web page, a login, or a proxy's error, perhaps because the URL is another's"
        raise NotStrictJSONError(f"it is HTML or XML: {page}")

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
