"""Faults: what is sent while the operator's fault holds, and the way back.

A fault that comes too late, breaks nothing or cannot be healed says nothing about the
endpoint.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from aml_contract.exchange import Exchange, Operation
from aml_contract.finding import Finding, NotTested, Violation
from aml_contract.techniques.steps import TEMPORARY
from aml_contract.trial import Trial

NO_EFFECT = "the fault command had no effect"
_LONGEST = 120.0
"""Seconds that one answer may take while the fault holds, and the way back after it was
healed; proxies cut earlier (clause F2)."""


async def while_broken(trial: Trial, operation: Operation, body: object) -> Exchange:
    """Send a request once, on a connection of its own.

    Raises:
        NotTested: no answer came in a time that one is willing to wait.
    """
    longest = _LONGEST * trial.run.patience
    try:
        async with asyncio.timeout(longest):
            return await trial.send(operation, body, fresh=True)
    except TimeoutError:
        name = operation.capitalize()
        raise NotTested(
            f"while the fault held, {name} gave no answer within {longest:g} s; "
            "the platform waits for 30 minutes, proxies cut after 100 s"
        ) from None


def temporary(exchange: Exchange) -> bool:
    """Whether the answer says "later" (clause F3): no answer at all is sent again too."""
    status = exchange.status
    if status is None or status >= 500 or status in TEMPORARY:
        return True
    return status == 409 and exchange.operation == "add"


@asynccontextmanager
async def broken(trial: Trial) -> AsyncIterator[None]:
    """Inside, the operator's fault holds; after it the endpoint works again.

    Raises:
        NotTested: a command of the operator failed, or the endpoint does not work again. A
            finding from inside goes first.
    """
    try:
        async with trial.broken():
            yield
    except Finding as found:
        if isinstance(found, Violation):
            trial.note("run --fault-cmd before these requests, and --heal-cmd after them")
        with contextlib.suppress(NotTested):
            await _recovered(trial)
        raise
    await _recovered(trial)


async def _recovered(trial: Trial) -> None:
    """Wait until an Add and its Search work again.

    Raises:
        NotTested: they do not; who is to blame cannot be seen from outside.
    """
    longest = _LONGEST * trial.run.patience
    before = len(trial.exchanges)
    try:
        async with asyncio.timeout(longest):
            while not await _works(trial):
                await trial.pause(1.0)
    except TimeoutError:
        last = trial.exchanges[before:][-1:]
        said = "".join(f"; {made.operation.capitalize()}: {made.summary}" for made in last)
        words = f"{longest:g} s after --heal-cmd the endpoint did not work again{said}"
        if trial.endpoint.faults is not None:
            trial.endpoint.faults.trouble = words
        raise NotTested(words, *last) from None


async def _works(trial: Trial) -> bool:
    """Whether a fresh user's Add is acknowledged and found."""
    user, marker = trial.ns.user("healed"), trial.ns.marker()
    made = await trial.send_add(trial.add_body(user, marker.text), fresh=True)
    if made.status != 200:
        return False
    made = await trial.send_search(trial.search_body(user, marker.query), fresh=True)
    return made.status == 200 and bool(trial.showing(trial.items(made), marker))
