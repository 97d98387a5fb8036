"""What the server remembers about Adds, so that a repeat is stored once (clauses R1-R4).

An Add passes two phases. It is *claimed*, which makes it pending, before the memory system
sees it; it is *completed* after the system said that everything is durable. Only a completed
Add is answered from the ledger. A pending one met at start-up, or when it is sent again, was
cut off: its remains are discarded and it is stored anew.
"""

from __future__ import annotations

import enum
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import NamedTuple


class AddKey(NamedTuple):
    """What identifies an Add: the same request id under two users is two Adds (clause R2)."""

    user_id: str
    request_id: str


class Claim(enum.Enum):
    """What a claim met."""

    NEW = "new"
    """Never seen; it is pending from now on."""
    PENDING = "pending"
    """Begun before, with the same body, and never completed."""
    DONE = "done"
    """Completed before, with the same body."""
    CONFLICT = "conflict"
    """Seen before with another body, which stays what it was (clause R4)."""


class Ledger(ABC):
    """Which Adds were begun and which were completed.

    Every method returns only when its effect is as durable as the ledger promises to be.
    The server never has two claims of one key open at once.
    """

    @abstractmethod
    async def open(self) -> Sequence[AddKey]:
        """Make ready for use; the Adds that an earlier life left pending.

        Raises:
            OSError: the store cannot be opened.
        """

    @abstractmethod
    async def claim(self, key: AddKey, digest: bytes) -> Claim:
        """Make the Add pending unless it is known already.

        ``digest`` stands for the validated body (see :func:`aml_sdk.ledger.body_digest`).

        Raises:
            Unavailable: the ledger cannot be written.
        """

    @abstractmethod
    async def complete(self, key: AddKey) -> None:
        """The Add is stored: from now on repeats are answered without the system.

        Raises:
            Unavailable: the ledger cannot be written; the Add stays pending.
        """

    @abstractmethod
    async def release(self, key: AddKey) -> None:
        """Forget a pending Add that was refused and left nothing behind.

        Raises:
            Unavailable: the ledger cannot be written; the Add stays pending.
        """

    async def close(self) -> None:
        """Release files; called once, after the last Add."""
        return
