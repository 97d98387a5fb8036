"""Adds that something cut short: their repeat completes them, once (clauses R1, A12).

Counts are compared with those of a control, so that a system which returns three records
a message may do so.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from aml_contract.exchange import Exchange
from aml_contract.finding import NotTested
from aml_contract.namespace import Marker
from aml_contract.techniques.copies import copies, repeated
from aml_contract.trial import Trial


@dataclass(frozen=True)
class Calm:
    """The control: a user who was told the same texts and whom nothing happened to."""

    user: str
    sample: Sequence[Marker]
    counts: Sequence[int]
    """How often each marker of the sample is there."""
    seconds: float
    """How long its Add took."""

    @classmethod
    async def told(cls, trial: Trial, texts: Sequence[str], sample: Sequence[Marker]) -> Calm:
        """Tell a fresh user ``texts``.

        Raises:
            NotTested: they are not found.
        """
        user = trial.ns.user("control")
        added = await trial.add(user, *texts)
        found = await counts(trial, user, sample)
        if not all(found):
            raise NotTested("an ordinary chunk is not found (see visibility/immediate)", added)
        return cls(user, sample, found, added.seconds)


async def repeated_once(
    trial: Trial, body: dict[str, Any], control: Calm, happened: tuple[Exchange, str]
) -> None:
    """Send the request again; each message must be there, and no more often than it should.

    Raises:
        Violation: refused, lost or doubled.
    """
    first, what = happened
    made = await repeated(trial, body)
    trial.require(
        made.status == 200, f"an Add was repeated after {what}, and answered {made.summary}", made
    )
    # A first try that is still at work would double them a moment later.
    for wait in (0.0, 1.0):
        await trial.pause(wait)
        got = await counts(trial, body["user_id"], control.sample)
        shown = (first, made, trial.last_exchange_of("search"))
        trial.require(
            all(got),
            f"an Add was repeated after {what}, and a message of it is not found",
            *shown,
        )
        if any(count > usual for count, usual in zip(got, control.counts, strict=True)):
            # Summaries and facts may come later: to the control as well.
            usual = await counts(trial, control.user, control.sample)
            excess = [(c, u) for c, u in zip(got, usual, strict=True) if c > u]
            for count, normal in excess:
                trial.fail(
                    f"an Add was repeated after {what}, and a message of it comes back {count} "
                    f"times instead of {normal}",
                    *shown,
                )


async def counts(trial: Trial, user: str, markers: Sequence[Marker]) -> list[int]:
    """How often each marker is there (see :func:`~aml_contract.techniques.copies.copies`)."""
    return [copies(trial, await trial.search(user, m.query), m) for m in markers]
