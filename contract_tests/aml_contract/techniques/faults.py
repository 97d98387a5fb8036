"""Faults: what is sent while the operator's fault holds, and the way back.

A fault that comes too late, breaks nothing or cannot be healed says nothing about the
endpoint.
"""

from __future__ import annotations

import asyncio

from aml_contract.exchange import Exchange, Operation
from aml_contract.finding import NotTested
from aml_contract.techniques.steps import TEMPORARY
from aml_contract.trial import Trial

NO_EFFECT = "the fault command had no effect"
_LONGEST = 120.0
"""Seconds that one answer may take while the fault holds; proxies cut earlier (clause F2)."""
_RECOVERY = 60
"""Seconds that an endpoint is given after the fault was healed."""


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


async def recovered(trial: Trial) -> None:
    """Wait until an Add and its Search work again.

    Raises:
        NotTested: they do not; who is to blame cannot be seen from outside.
    """
    user = trial.ns.user("healed")
    for _ in range(_RECOVERY):
        marker = trial.ns.marker()
        made = await trial.send_add(trial.add_body(user, marker.text), fresh=True)
        if made.status == 200:
            made = await trial.send_search(trial.search_body(user, marker.query), fresh=True)
            if made.status == 200 and trial.showing(trial.items(made), marker):
                return
        await trial.pause(1.0)
    raise NotTested(
        f"{_RECOVERY} s after --heal-cmd the endpoint did not work again: an ordinary "
        f"{made.operation.capitalize()} was answered {made.summary}",
        made,
    )
