"""What the server remembers about Adds, so that a repeat is stored once (clauses R1-R4).

An Add passes two phases. It is *claimed*, which makes it pending, before the memory system
sees it; it is *completed* after the system said that everything is durable. Only a completed
Add is answered from the ledger. A pending one met at start-up, or when it is sent again, was
cut off: its remains are discarded and it is stored anew.

Forgetting a user passes two phases too (clause L3). It is *begun*, which is kept; the memory
system removes the user; then the ledger does. Whatever was begun is finished, after a crash
too, before the user's next Add. Afterwards nothing is known of the user: an Add that is sent
again is a new one.
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

    @abstractmethod
    async def idle_since(self, moment: float) -> Sequence[str]:
        """Users whose last Add was claimed before ``moment`` (Unix seconds).

        Raises:
            Unavailable: the ledger cannot be read.
        """

    @abstractmethod
    async def begin_forgetting(
        self, user_id: str, why: str, *, idle_since: float | None = None
    ) -> bool:
        """Mark a user to be forgotten, known or not; whether it is marked now.

        ``why`` is a word for the journal. With ``idle_since`` only a user whose last Add was
        claimed before that moment is marked.

        Raises:
            Unavailable: the ledger cannot be written.
        """

    @abstractmethod
    async def begun_forgetting(self) -> Sequence[str]:
        """Users who are marked, and whom :meth:`forget` has not removed yet.

        Raises:
            Unavailable: the ledger cannot be read.
        """

    @abstractmethod
    async def forget(self, user_id: str) -> int:
        """Remove all that is known of a marked user, and note it in a journal without content.

        Returns how many Adds there were.

        Raises:
            Unavailable: the ledger cannot be written; the user stays marked.
        """

    async def close(self) -> None:
        """Release files; called once, after the last Add."""
        return
