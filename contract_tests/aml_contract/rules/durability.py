"""``durability/*``: acknowledged is kept, once, whatever happens (clauses A12, R1, R6).

Counts are compared with those of a control: a user who was told the same texts and whom
nothing happened to. Some systems return three records a message, and may.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from aml_contract.body import dump
from aml_contract.finding import NotTested
from aml_contract.namespace import Marker
from aml_contract.outcome import Level
from aml_contract.rule import Cost, Need, rule
from aml_contract.techniques.copies import Control, counts, ordinary_add
from aml_contract.techniques.cut_short import repeated_once
from aml_contract.techniques.lists import changed_id, same_order
from aml_contract.techniques.steps import planted
from aml_contract.trial import Trial

RESTART = frozenset({Need.RESTART})
KILL = frozenset({Need.KILL})
MOMENTS = (0.3, 0.6, 0.9, 0.5)
"""When an Add is struck, as shares of the time that such an Add takes."""


@rule(
    "durability/restart",
    level=Level.MUST,
    clauses=("A12", "R1"),
    title="What was acknowledged is still there after a restart.",
    why="Runs take up to ten days; a store in memory or on a temporary disk starts empty.",
    fix="Write to a volume that outlives the process, before answering 200.",
    cost=Cost(adds=3, searches=7),
    needs=RESTART,
    modes=(99,),
    peers=("P144",),
    cases=("B34",),
    exclusive=True,
    quick=False,
)
async def restart(trial: Trial) -> None:
    """Two users, three messages, a polite restart; and a new Add is taken afterwards."""
    process = trial.process
    told = [(trial.ns.user(), trial.ns.marker()) for _ in range(2)]
    told.append((told[0][0], trial.ns.marker()))
    for user, marker in told:
        await trial.add(user, marker.text)
    await seen(trial, told)
    await process.restart()
    for user, marker in told:
        trial.require(
            bool(await trial.find(user, marker)),
            "a message that was found before the restart is gone after it",
            trial.last_exchange_of("add"),
            trial.last_exchange_of("search"),
        )


@rule(
    "durability/kill-after-ack",
    level=Level.MUST,
    clauses=("A12",),
    title="An Add is durable when its 200 arrives: kill -9 right after it loses nothing.",
    why="Buffers that are flushed later lose what the platform never sends again.",
    fix="Commit and sync before answering; do no work after the answer.",
    cost=Cost(adds=7, searches=9),
    needs=KILL,
    modes=(99,),
    peers=("P145",),
    cases=("B34",),
    exclusive=True,
)
async def kill_after_ack(trial: Trial) -> None:
    """Twice (quick: once): a burst of three Adds, the kill straight after the last answer."""
    process = trial.process
    user = trial.ns.user()
    first = await planted(trial, user)
    for _ in range(1 if trial.run.quick else 2):
        markers = [trial.ns.marker() for _ in range(3)]
        added = [await trial.add(user, marker.text) for marker in markers]
        await process.kill()
        await process.start()
        for marker, made in zip((*markers, first), (*added, added[0]), strict=True):
            trial.require(
                bool(await trial.find(user, marker)),
                "an Add was answered 200, the process killed right after it, and on the next "
                "start its message is gone",
                made,
                trial.last_exchange_of("search"),
            )


@rule(
    "durability/kill-during-add",
    level=Level.MUST,
    clauses=("R1", "A12", "A14"),
    title="An Add that a crash cut short is completed once by its repeat.",
    why="The platform sends it again: half of it stored twice or lost corrupts the evidence.",
    fix="Write a chunk in one transaction, or derive ids from the request and upsert.",
    cost=Cost(adds=9, searches=36),
    needs=KILL,
    modes=(29, 35),
    peers=("P49",),
    cases=("B14",),
    exclusive=True,
    quick=False,
)
async def kill_during_add(trial: Trial) -> None:
    """Four moments; after the repeat every message is there as often as for the control."""
    process = trial.process
    markers = [trial.ns.marker() for _ in range(20)]
    texts = [trial.ns.padded(marker, 2_000) for marker in markers]
    sample = [markers[0], markers[7], markers[13], markers[19]]
    control = await Control.told(trial, texts, sample)
    takes = control.seconds
    for moment in MOMENTS:
        user = trial.ns.user("struck")
        body = trial.add_body(user, *texts)
        struck = asyncio.create_task(trial.send("add", body, fresh=True))
        await asyncio.sleep(takes * moment)
        await process.kill()
        first = await struck
        if first.status is not None:  # too late: such an Add takes less time than it seemed
            takes = min(takes, first.seconds)
        await process.start()
        await repeated_once(trial, body, control, (first, "a kill -9 during it"))


@rule(
    "durability/kill-during-repeat",
    level=Level.MUST,
    clauses=("A12", "R1"),
    title="A crash during a repeat takes nothing away from what was acknowledged.",
    why="A store that makes room before it writes again loses the first copy with the second: "
    "the platform has its 200 and sends it no more.",
    fix="Answer a repeat from what is recorded; or write first and remove afterwards, in one "
    "transaction.",
    cost=Cost(adds=5, searches=20),
    needs=KILL,
    modes=(29, 35, 99),
    peers=("P48", "P49"),
    exclusive=True,
    quick=False,
)
async def kill_during_repeat(trial: Trial) -> None:
    """Two moments of a repeat; nothing is sent again, and every message is still there."""
    process = trial.process
    markers = [trial.ns.marker() for _ in range(20)]
    texts = [trial.ns.padded(marker, 2_000) for marker in markers]
    sample = [markers[0], markers[7], markers[13], markers[19]]
    for moment in (0.3, 0.7):
        user = trial.ns.user("struck")
        body = trial.add_body(user, *texts)
        first = await ordinary_add(trial, body)
        if not all(await counts(trial, user, sample)):
            raise NotTested("an ordinary message is not found (see visibility/immediate)", first)
        struck = asyncio.create_task(trial.send("add", body, fresh=True))
        await asyncio.sleep(first.seconds * moment)
        await process.kill()
        again = await struck
        await process.start()
        trial.require(
            all(await counts(trial, user, sample)),
            "an Add was answered 200, a kill -9 came during its repeat, and on the next start a "
            "message of it is gone",
            first,
            again,
            trial.last_exchange_of("search"),
        )


@rule(
    "durability/works-after-kill",
    level=Level.MUST,
    clauses=("R1", "F3"),
    title="After a kill -9 under load, the server starts and works again by itself.",
    why="A stale lock or a torn file needs a person; a run has none.",
    fix="Use locks that die with the process, and recover what a crash left half-written.",
    cost=Cost(adds=7, searches=2),
    needs=KILL,
    modes=(29,),
    peers=("P49",),
    exclusive=True,
    quick=False,
)
async def works_after_kill(trial: Trial) -> None:
    """Four Adds in flight when it happens; then an Add and a Search of the same users."""
    process = trial.process
    users = [trial.ns.user() for _ in range(4)]
    control = await trial.add(users[0], trial.ns.marker().text)
    bodies = [trial.add_body(user, trial.ns.marker().text) for user in users]
    flying = [asyncio.create_task(trial.send("add", body, fresh=True)) for body in bodies]
    await asyncio.sleep(control.seconds / 2)
    await process.kill()
    await asyncio.gather(*flying)
    await process.start()
    marker = trial.ns.marker()
    made = await trial.insist("add", trial.add_body(users[0], marker.text))
    trial.require(
        made.status == 200,
        f"after a kill -9 under load and a new start, an Add was answered {made.summary}",
        made,
    )
    asked = await trial.insist("search", trial.search_body(users[0], marker.query))
    trial.require(
        asked.status == 200,
        f"after a kill -9 under load and a new start, a Search was answered {asked.summary}",
        asked,
    )


@rule(
    "durability/order-over-restart",
    level=Level.SHOULD,
    clauses=("S6", "S5"),
    title="Ids and order of results survive a restart.",
    why="Whoever joins results by id loses the thread when a deploy renames every memory.",
    fix="Store the ids, or derive them from what was stored.",
    cost=Cost(adds=1, searches=3),
    needs=RESTART,
    modes=(58, 65),
    peers=("P66", "P146"),
    exclusive=True,
    quick=False,
)
async def order_over_restart(trial: Trial) -> None:
    """The same Search before and after."""
    process = trial.process
    user, topic = trial.ns.user(), trial.ns.topic(6)
    await trial.add(user, *(marker.text for marker in topic.markers))
    before = await trial.search_exchange(user, topic.query)
    again = await trial.search_exchange(user, topic.query)
    old = trial.items(before)
    if changed_id(old, trial.items(again)):
        raise NotTested("ids change without a restart too (see order/ids-stable)", before, again)
    steady = same_order(old, trial.items(again))
    await process.restart()
    after = await trial.search_exchange(user, topic.query)
    new = trial.items(after)
    if not new:
        raise NotTested("nothing is found after the restart (see durability/restart)", after)
    changed = changed_id(old, new)
    trial.require(
        changed is None,
        f"a memory changed its id over a restart: {changed and changed[0]!r} became "
        f"{changed and changed[1]!r}",
        before,
        after,
    )
    if steady and not same_order(old, new):
        trial.fail("the same Search gives another order of results after a restart", before, after)


@rule(
    "durability/client-abort",
    level=Level.MUST,
    clauses=("R1", "R6"),
    title="An Add whose client went away is stored once when it is sent again.",
    why="Timeouts are retried with the same request; two copies are double evidence.",
    fix="Claim (user_id, request_id) before working; let a repeat wait for the first.",
    cost=Cost(adds=7, searches=21),
    modes=(34, 36),
    peers=("P50", "P49"),
    cases=("B10",),
    transport="raw",
    quick=False,
)
async def client_abort(trial: Trial) -> None:
    """Gone after the whole body, at once and a moment later, and in the middle of the body."""
    markers = [trial.ns.marker() for _ in range(3)]
    texts = [marker.text for marker in markers]
    control = await Control.told(trial, texts, markers)
    for share, stay in ((1.0, 0.0), (1.0, control.seconds / 2), (0.5, 0.0)):
        user = trial.ns.user("aborted")
        body = trial.add_body(user, *texts)
        async with trial.raw("add") as connection:
            first = await connection.abandon("add", dump(body), share=share)
            await asyncio.sleep(stay)
        how = (first, "its client went away")
        await repeated_once(trial, body, control, how)


async def seen(trial: Trial, told: Sequence[tuple[str, Marker]]) -> None:
    """All markers are found; else a later loss would say nothing.

    Raises:
        NotTested: one is not.
    """
    for user, marker in told:
        if not await trial.find(user, marker):
            raise NotTested(
                "an ordinary message is not found (see visibility/immediate)",
                trial.last_exchange_of("search"),
            )
