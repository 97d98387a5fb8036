"""The record: what a load has seen so far."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal

from aml_contract.certification.capacity.platform import Kind
from aml_contract.certification.capacity.tally import NO_ANSWER
from aml_contract.checking.masking import Mask
from aml_contract.documented import Documented
from aml_contract.exchange import Exchange
from aml_contract.namespace import Marker

_SOMEBODY = ("connection refused", "connection reset", "connection closed")


class Trouble(Documented):
    """What ends a stage of the platform, and so ended the load."""

    kind: Literal["refused", "given up", "broken", "died"]
    """An answer that is never sent again (clause F); one that still asked for that after as
    many tries as the platform makes (F1); a 200 that breaks the contract (A13); a server that
    has ended by itself."""
    operation: Kind
    answer: str
    """The status, `no answer`, or in words what is wrong; texts of the endpoint are masked."""
    reason: str = ""
    """Why no answer came, in words."""
    tries: int = 1
    calm: str = ""
    """What the same request was answered when nothing else was in flight."""

    @property
    def lost_touch(self) -> bool:
        """Whether it may be the network in between, or the kit's: not even the host was there."""
        return self.answer == NO_ANSWER and not self.reason.startswith(_SOMEBODY)


@dataclass
class Kept:
    """An Add that was acknowledged, and what Searches for its canary have shown."""

    user_id: str
    canary: Marker
    since: float
    """When it was acknowledged, by the event loop's clock."""
    looked: int = 0
    """Searches for it that were answered."""
    missed: int = 0
    """Those that did not show it."""
    found: bool = False
    """Whether the last one did."""
    words: bool = False
    """Whether it is found only by its own words, or further down than the first 100 items."""
    lost: bool = False
    """Whether it is not found that way either."""

    def seen(self, *, shown: bool) -> None:
        """One more Search for it was answered."""
        self.looked += 1
        self.missed += not shown
        self.found = shown


class Point(Documented):
    """One Add or Search that was accepted in the end."""

    history: int
    """Adds of the same user before it."""
    seconds: float
    """How long its requests took together."""
    waited: float
    """How long the platform would wait between them, in seconds."""


@dataclass
class Record:
    """What was accepted, what was not, and when.

    Args:
        redact: takes the key out of a text.
    """

    redact: Callable[[str], str] = str
    kept: list[Kept] = field(default_factory=list)
    troubles: list[Trouble] = field(default_factory=list)
    unfinished: int = 0
    """Adds that the kit has cut off, because time was over."""
    histories: Counter[str] = field(default_factory=Counter)
    """Acknowledged Adds of each user."""
    points: dict[Kind, list[Point]] = field(default_factory=lambda: {"add": [], "search": []})
    answered: dict[Kind, list[float]] = field(default_factory=lambda: {"add": [], "search": []})
    """When each of them was answered, by the event loop's clock."""
    refused: tuple[Kind, bytes] | None = None
    """The first request that was refused for good."""

    def accepted(self, operation: Kind, point: Point, now: float) -> None:
        """An Add or a Search got its 200."""
        self.points[operation].append(point)
        self.answered[operation].append(now)

    def broken(self, exchange: Exchange, words: str, tries: int) -> None:
        """An answer came that ends the platform's stage."""
        operation: Kind = "add" if exchange.operation == "add" else "search"
        if exchange.status == 200:
            shown = Mask([exchange], redact=self.redact).message(self.redact(words))
            made = Trouble(kind="broken", operation=operation, answer=shown, tries=tries)
        else:
            made = Trouble(
                kind="given up" if exchange.retryable else "refused",
                operation=operation,
                answer=NO_ANSWER if exchange.status is None else str(exchange.status),
                reason=self.redact(exchange.error or ""),
                tries=tries,
            )
        if made.kind == "refused" and self.refused is None:
            self.refused = operation, exchange.body
        self.troubles.append(made)

    def died(self, operation: Kind, words: str) -> None:
        """The server has ended by itself."""
        self.troubles.append(Trouble(kind="died", operation=operation, answer=self.redact(words)))
