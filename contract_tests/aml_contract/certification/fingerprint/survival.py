"""Whether the canaries of a certified run are still there; their absence is no other version."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from aml_contract.certification.fingerprint.measuring import Taking
from aml_contract.certification.fingerprint.model import Fingerprint
from aml_contract.certification.fingerprint.reading import Reader

RETENTION_DAYS = 30
"""After so long evaluation data must be gone (clause L3)."""


@dataclass(frozen=True)
class Survival:
    """How many of the canaries of an earlier fingerprint its users still have."""

    found: int
    of: int
    days: float
    """Since they were stored."""

    @property
    def sentence(self) -> str:
        """What that means."""
        ago = f"{self.days:.0f} days ago" if self.days >= 2 else "lately"
        late = self.days > RETENTION_DAYS
        if not self.of:
            return "No canary was recognised when they were stored, so none can be missed."
        if not self.found:
            if late:
                return f"The canaries that were stored {ago} are gone, as they must be (clause L3)."
            return (
                f"The canaries that were stored {ago} are gone: data was deleted early or lost. "
                "That alone is no other version."
            )
        if late:
            return (
                f"{self.found} of {self.of} canaries that were stored {ago} are still there; "
                f"evaluation data must be deleted within {RETENTION_DAYS} days (clause L3)."
            )
        if self.found < self.of:
            return f"{self.of - self.found} of {self.of} canaries that were stored {ago} are gone."
        return f"The canaries that were stored {ago} are still there."


async def survival(old: Fingerprint, taking: Taking, now: datetime) -> Survival:
    """Ask the users of an earlier fingerprint for what they stored then.

    Raises:
        Untaken: a Search got no good answer.
    """
    reader = Reader(old.canaries, ())
    asked = [reader.read(exchange) for user in old.users for exchange in await taking.ask(user)]
    seen: set[int] = set().union(*(answer.seen for answer in asked))
    days = (now - datetime.fromisoformat(old.stored)).total_seconds() / 86_400
    return Survival(len(seen & set(old.seen)), len(old.seen), days)
