"""Adds that something cut short: their repeat completes them, once (clauses R1, A12).

Counts are compared with those of a control, so that a system which returns three records
a message may do so.
"""

from __future__ import annotations

from typing import Any

from aml_contract.exchange import Exchange
from aml_contract.techniques.copies import Control, counts, repeated
from aml_contract.trial import Trial


async def repeated_once(
    trial: Trial, body: dict[str, Any], control: Control, happened: tuple[Exchange, str]
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
