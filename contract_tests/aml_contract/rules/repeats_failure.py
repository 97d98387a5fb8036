"""``repeats/after-failure*``: an Add that failed is completed once by its repeat (R1, A14)."""

from __future__ import annotations

import asyncio
from typing import Any

from aml_contract.exchange import Exchange
from aml_contract.finding import NotTested
from aml_contract.outcome import Level
from aml_contract.rule import Cost, Need, rule
from aml_contract.techniques.copies import Control, counts
from aml_contract.techniques.cut_short import repeated_once
from aml_contract.techniques.faults import NO_EFFECT, broken, while_broken
from aml_contract.trial import Trial

FAULT = frozenset({Need.FAULT})
MOMENTS = (0.0, 0.5)
"""When the fault command is run beside an Add, as shares of the time that such an Add takes."""


@rule(
    "repeats/after-failure",
    level=Level.MUST,
    clauses=("R1", "A12"),
    title="An Add that failed is stored once by its repeat, whatever succeeded in between.",
    why="Progress kept per user marks the failed one as done: its repeat says 200 and stores "
    "nothing.",
    fix="Keep done or not for each (user_id, request_id), and write it with the data.",
    cost=Cost(adds=5, searches=6),
    needs=FAULT,
    modes=(28,),
    peers=("P49",),
    cases=("B15",),
    exclusive=True,
    quick=False,
)
async def after_failure(t: Trial) -> None:
    """A fails, the fault is healed, B of the same user succeeds, A is sent again."""
    user, marker = t.ns.user(), t.ns.marker()
    body = t.add_body(user, marker.text)
    control = await Control.told(t, [marker.text], [marker])
    async with broken(t):
        first = await while_broken(t, "add", body)
    if first.status == 200:
        raise NotTested(f"{NO_EFFECT} on Add: it succeeded", first)
    await t.add(user, t.ns.marker().text)
    happened = "the store had failed and another Add of its user had succeeded"
    await repeated_once(t, body, control, (first, happened))


@rule(
    "repeats/after-failure-no-half",
    level=Level.MUST,
    clauses=("A14", "R1"),
    title="An Add that failed half-way shows nothing of itself, and its repeat completes it once.",
    why="What an error left behind stays as evidence, or is doubled by the repeat.",
    fix="Write a chunk in one transaction, or remove what a failed one left behind.",
    cost=Cost(adds=10, searches=67),
    needs=FAULT,
    modes=(29,),
    peers=("P49", "P114"),
    cases=("B14",),
    exclusive=True,
    quick=False,
)
async def after_failure_no_half(t: Trial) -> None:
    """The fault before an Add of 20 messages, beside it, and in its middle."""
    markers = [t.ns.marker() for _ in range(20)]
    texts = [t.ns.padded(marker, 2_000) for marker in markers]
    sample = [markers[0], markers[7], markers[13], markers[19]]
    control = await Control.told(t, texts, sample)
    failed = False
    for delay in (None, *(control.seconds * moment for moment in MOMENTS)):
        body = t.add_body(t.ns.user("failing"), *texts)
        first = await struck(t, body, delay)
        if first.status == 200:
            continue  # the fault came too late
        failed = True
        await whole_or_nothing(t, body["user_id"], control, first)
        await repeated_once(t, body, control, (first, "the store had failed"))
    if not failed:
        raise NotTested(f"{NO_EFFECT} on Add: each of {len(MOMENTS) + 1} succeeded")


async def struck(t: Trial, body: dict[str, Any], delay: float | None) -> Exchange:
    """Send an Add and run the fault command ``delay`` seconds later; before it if ``None``."""
    if delay is None:
        async with broken(t):
            return await while_broken(t, "add", body)
    flying = asyncio.create_task(while_broken(t, "add", body))
    try:
        await asyncio.sleep(delay)
        async with broken(t):
            return await flying
    finally:
        flying.cancel()


async def whole_or_nothing(t: Trial, user: str, control: Control, first: Exchange) -> None:
    """A failed Add is not visible, or all of it is: an answer may be lost on its way.

    Raises:
        Violation: a part of it is visible, also a little later.
    """
    for wait in (0.0, 1.0, 3.0):  # it may still be at work
        await t.pause(wait)
        there = [bool(count) for count in await counts(t, user, control.sample)]
        if all(there) or not any(there):
            return
    t.fail(
        f"an Add failed ({first.summary}) and a part of it is visible: {sum(there)} of "
        f"{len(there)} messages that were looked for",
        first,
        t.last_exchange_of("search"),
    )
