"""Results: what one rule came to, and an exchange as reports keep it."""

from __future__ import annotations

import contextlib
import hashlib
import secrets
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pydantic import Field

from aml_contract.checking.masking import MOST_READ, Mask, beginning
from aml_contract.documented import Documented
from aml_contract.endpoint.auth import Auth
from aml_contract.endpoint.curl import curl, inlined
from aml_contract.exchange import Exchange
from aml_contract.outcome import Level, Outcome

_SHOWN = 4_000
"""Characters of a body that a report keeps."""


class ExchangeRecord(Documented):
    """One exchange of a finding: bodies shortened, answers masked, the key as ``$AML_KEY``."""

    operation: str
    """``add``, ``search`` or ``health``."""
    method: str
    url: str
    headers: dict[str, str]
    """As sent, the key as ``$AML_KEY``."""
    body: str
    """What was sent, its first 4,000 characters."""
    body_bytes: int
    """How long it was in all."""
    status: int | None
    """``null`` if no whole answer came."""
    error: str | None
    """Why no answer came, or none that can be used, in words."""
    reply_headers: dict[str, str]
    reply: str
    """What came back, masked, its first 4,000 characters."""
    reply_bytes: int
    """How long it was in all."""
    seconds: float
    """From the first byte sent to the last received."""
    curl: str
    """Sends the same request again."""


class RuleResult(Documented):
    """What one rule came to on one endpoint."""

    rule: str
    """Its name, ``family/what-it-tries``."""
    level: Level
    """``MUST``, ``SHOULD`` or ``MAY``."""
    clause: str
    """Clauses of the wire contract, comma-separated."""
    outcome: Outcome
    """``passed``, ``failed``, ``warned``, ``not_applicable``, ``not_tested`` or ``kit_error``."""
    transport: str
    """``http`` for ordinary requests, ``raw`` for bytes over a socket."""
    message: str = ""
    """What was found, or why the rule was not tried; empty if it passed."""
    seconds: float = 0.0
    """How long trying it took."""
    requests: int = 0
    """Requests the rule sent."""
    exchanges: list[ExchangeRecord] = Field(default_factory=list)
    """The fewest that show a finding."""
    notes: list[str] = Field(default_factory=list)
    """Remarks that change no outcome."""
    figures: dict[str, float] = Field(default_factory=dict)
    """Numbers that change no outcome, by name; times are in seconds."""
    repeat: dict[str, Any] | None = None
    """The steps of a generated finding, ids left open, for ``aml reproduce``."""

    @property
    def family(self) -> str:
        """The part of the rule's name before the slash."""
        return self.rule.partition("/")[0]


class Recorder:
    """Turns exchanges into records fit to be passed on.

    No key is in them and nothing of an answer that the kit did not send (see
    :mod:`aml_contract.checking.masking`); large bodies are in files of their own.

    Args:
        auth: whose key is kept out.
        directory: where bodies too large for a ``curl`` go; ``None`` writes none.
        show_replies: show answers whole, the key aside.
    """

    def __init__(
        self,
        auth: Auth | None = None,
        directory: Path | None = None,
        *,
        show_replies: bool = False,
    ) -> None:
        self._auth = auth or Auth()
        self._directory = directory
        self._show_replies = show_replies
        self._salt = secrets.token_hex(8)

    def mask(self, made: Sequence[Exchange]) -> Mask:
        """What of the answers to one rule may be shown; what it shows stands first."""
        return Mask(made, self._salt, self._auth.redact, off=self._show_replies)

    def text(self, text: str, mask: Mask | None = None) -> str:
        """``text`` without the key, and without what ``mask`` hides."""
        redacted = self._auth.redact(text)
        return mask.message(redacted) if mask else redacted

    def record(self, exchange: Exchange, mask: Mask | None = None) -> ExchangeRecord:
        """The record of one exchange; what the answer may show says ``mask``."""
        mask = mask or self.mask([exchange])
        text = self._auth.redact
        return ExchangeRecord(
            operation=exchange.operation,
            method=exchange.method,
            url=text(exchange.url),
            headers=dict(exchange.headers),
            body=_shortened(text(beginning(exchange.body)), len(exchange.body)),
            body_bytes=len(exchange.body) + exchange.dropped,
            status=exchange.status,
            error=(why := exchange.error or exchange.cut) and self.text(why, mask),
            reply_headers=mask.headers(exchange),
            reply=_shortened(mask.reply(exchange), len(exchange.reply)),
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


def summary_of(exchange: ExchangeRecord) -> str:
    """``200``, or the reason why there is no status, or no use in it."""
    if exchange.status is None:
        return exchange.error or "no answer"
    return f"{exchange.status} ({exchange.error})" if exchange.error else str(exchange.status)


def _shortened(text: str, size: int) -> str:
    if len(text) <= _SHOWN and size <= MOST_READ:
        return text
    return f"{text[:_SHOWN]}… ({size} bytes in all)"
