"""A ledger that forgets everything when the process ends."""

from __future__ import annotations

import time
from collections.abc import Sequence

from aml_sdk.ledger.base import AddKey, Claim, Ledger


class MemoryLedger(Ledger):
    """For tests, and for memory systems that forget everything at exit too.

    A durable system needs a durable ledger: a repeat after a restart is new to this one.
    """

    def __init__(self) -> None:
        self._adds: dict[AddKey, tuple[bytes, bool]] = {}
        self._last_add: dict[str, float] = {}
        self._marked: set[str] = set()

    async def open(self) -> Sequence[AddKey]:
        """The Adds left pending by an earlier use of this object."""
        return [key for key, (_, done) in self._adds.items() if not done]

    async def claim(self, key: AddKey, digest: bytes) -> Claim:
        """Make the Add pending unless it is known already."""
        known = self._adds.get(key)
        if known is not None and known[0] != digest:
            return Claim.CONFLICT
        self._last_add[key.user_id] = time.time()
        if known is None:
            self._adds[key] = (digest, False)
            return Claim.NEW
        return Claim.DONE if known[1] else Claim.PENDING

    async def complete(self, key: AddKey) -> None:
        """The Add is stored."""
        self._adds[key] = (self._adds[key][0], True)

    async def release(self, key: AddKey) -> None:
        """Forget a pending Add."""
        del self._adds[key]

    async def idle_since(self, moment: float) -> Sequence[str]:
        """Users whose last Add was claimed before ``moment``."""
        return [user for user, last in self._last_add.items() if last < moment]

    async def begin_forgetting(
        self, user_id: str, why: str, *, idle_since: float | None = None
    ) -> bool:
        """Mark a user to be forgotten."""
        if idle_since is not None and not self._last_add.get(user_id, idle_since) < idle_since:
            return False
        self._marked.add(user_id)
        return True

    async def begun_forgetting(self) -> Sequence[str]:
        """Users who are marked."""
        return sorted(self._marked)

    async def forget(self, user_id: str) -> int:
        """Remove all that is known of a user; there is no journal."""
        adds = [key for key in self._adds if key.user_id == user_id]
        for key in adds:
            del self._adds[key]
        self._last_add.pop(user_id, None)
        self._marked.discard(user_id)
        return len(adds)
