"""A ledger that forgets everything when the process ends."""

from __future__ import annotations

from collections.abc import Sequence

from aml_sdk.ledger.base import AddKey, Claim, Ledger


class MemoryLedger(Ledger):
    """For tests, and for memory systems that forget everything at exit too.

    A durable system needs a durable ledger: a repeat after a restart is new to this one.
    """

    def __init__(self) -> None:
        self._adds: dict[AddKey, tuple[bytes, bool]] = {}

    async def open(self) -> Sequence[AddKey]:
        """The Adds left pending by an earlier use of this object."""
        return [key for key, (_, done) in self._adds.items() if not done]

    async def claim(self, key: AddKey, digest: bytes) -> Claim:
        """Make the Add pending unless it is known already."""
        known = self._adds.get(key)
        if known is None:
            self._adds[key] = (digest, False)
            return Claim.NEW
        if known[0] != digest:
            return Claim.CONFLICT
        return Claim.DONE if known[1] else Claim.PENDING

    async def complete(self, key: AddKey) -> None:
        """The Add is stored."""
        self._adds[key] = (self._adds[key][0], True)

    async def release(self, key: AddKey) -> None:
        """Forget a pending Add."""
        del self._adds[key]
