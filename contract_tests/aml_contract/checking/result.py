"""Results: what one rule came to, and an exchange as reports keep it."""

from __future__ import annotations

import contextlib
import hashlib
from pathlib import Path
from typing import Any

from pydantic import BaseModel, Field

from aml_contract.endpoint.auth import Auth
from aml_contract.endpoint.curl import curl, inlined
from aml_contract.exchange import Exchange
from aml_contract.outcome import Level, Outcome

_SHOWN = 4_000
"""Characters of a body that a report keeps."""


class ExchangeRecord(BaseModel):
    """One exchange of a finding: bodies shortened, the key as ``$AML_KEY``."""

    operation: str
    method: str
    url: str
    headers: dict[str, str]
    body: str
    body_bytes: int
    status: int | None
    error: str | None
    reply_headers: dict[str, str]
    reply: str
    reply_bytes: int
    seconds: float
    curl: str
    """Sends the same request again."""


class RuleResult(BaseModel):
    """What one rule came to on one endpoint."""

    rule: str
    level: Level
    clause: str
    """Clauses of the wire contract, comma-separated."""
    outcome: Outcome
    transport: str
    message: str = ""
    """What was found, or why the rule was not tried; empty if it passed."""
    seconds: float = 0.0
    requests: int = 0
    """Requests the rule sent."""
    exchanges: list[ExchangeRecord] = Field(default_factory=list)
    """The fewest that show a finding."""
    notes: list[str] = Field(default_factory=list)
    figures: dict[str, float] = Field(default_factory=dict)
    repeat: dict[str, Any] | None = None
    """The steps of a generated finding, ids left open, for ``aml reproduce``."""

    @property
    def family(self) -> str:
        """The part of the rule's name before the slash."""
        return self.rule.partition("/")[0]


class Recorder:
    """Turns exchanges into records: no key in them, large bodies in files of their own.

    Args:
        auth: whose key is kept out.
        directory: where bodies too large for a ``curl`` go; ``None`` writes none.
    """

    def __init__(self, auth: Auth | None = None, directory: Path | None = None) -> None:
        self._auth = auth or Auth()
        self._directory = directory

    def text(self, text: str) -> str:
        """``text`` without the key."""
        return self._auth.redact(text)

    def record(self, exchange: Exchange) -> ExchangeRecord:
        """The record of one exchange."""
        text = self._auth.redact
        return ExchangeRecord(
            operation=exchange.operation,
            method=exchange.method,
            url=text(exchange.url),
            headers=dict(exchange.headers),
            body=self._shortened(exchange.body),
            body_bytes=len(exchange.body),
            status=exchange.status,
            error=exchange.error,
            reply_headers={k: text(v) for k, v in exchange.reply_headers.items()},
            reply=self._shortened(exchange.reply),
            reply_bytes=len(exchange.reply),
            seconds=round(exchange.seconds, 6),
            curl=text(curl(exchange, self._body_file(exchange.body))),
        )

    def _body_file(self, body: bytes) -> Path | None:
        if self._directory is None or inlined(body):
            return None
        path = self._directory / f"{hashlib.sha256(body).hexdigest()[:16]}.body"
        with contextlib.suppress(OSError):  # a full disk costs the file, not the run
            self._directory.mkdir(parents=True, exist_ok=True)
            path.write_bytes(body)
        return path

    def _shortened(self, body: bytes) -> str:
        """The beginning as text; the key goes before the rest, or half of it might stay."""
        text = self._auth.redact(body[: 8 * _SHOWN].decode(errors="replace"))
        if len(text) <= _SHOWN and len(body) <= 8 * _SHOWN:
            return text
        return f"{text[:_SHOWN]}… ({len(body)} bytes in all)"


def summary_of(exchange: ExchangeRecord) -> str:
    """``200`` or the reason why there is no status."""
    return str(exchange.status) if exchange.status is not None else exchange.error or "no answer"
