"""``health/*``: the open health URL, and HEAD probes (clauses E3, E4)."""

from __future__ import annotations

from aml_contract.outcome import Level
from aml_contract.rule import Cost, rule
from aml_contract.techniques.steps import attempt
from aml_contract.trial import Trial


@rule(
    "health/open",
    level=Level.MUST,
    clauses=("E1", "E3", "K2"),
    title="GET on the health URL answers 2xx without a key.",
    why="The platform asks health first; an endpoint that is not healthy is not evaluated.",
    fix="Serve GET /health (or the registered URL) before authentication, with any 2xx.",
    cost=Cost(others=1),
    modes=(83,),
    peers=("P12", "P13"),
)
async def open_health(trial: Trial) -> None:
    """The body is not read."""
    made = await attempt(trial, "health", None, auth={})
    trial.require(
        made.status is not None and 200 <= made.status < 300,
        f"health was answered {made.summary}, not 2xx",
        made,
    )


@rule(
    "health/steady",
    level=Level.MAY,
    clauses=("E3",),
    title="Health stays 2xx while Adds run.",
    why="A health check that waits for a busy worker looks like an outage.",
    fix="Answer health from outside the pool that does the work, without touching the store.",
    cost=Cost(adds=4, others=10),
    modes=(84,),
)
async def steady(trial: Trial) -> None:
    """Ten polls beside four Adds."""

    async def poll() -> None:
        for _ in range(10):
            made = await trial.health()
            trial.require(
                made.status is not None and 200 <= made.status < 300,
                f"health was answered {made.summary} while Adds were running",
                made,
            )
            await trial.pause(0.1)

    async def write() -> None:
        user = trial.ns.user()
        for _ in range(4):
            await trial.add(user, trial.ns.marker().text)

    await trial.together(write(), poll())


@rule(
    "health/head",
    level=Level.MAY,
    clauses=("E4",),
    title="HEAD on the Add and Search URLs is answered.",
    why="HEAD was seen as a probe before a run; an error there may read as a dead URL.",
    fix="Answer HEAD with 200 on both URLs.",
    cost=Cost(others=2),
    modes=(85,),
    peers=("P132",),
)
async def head(trial: Trial) -> None:
    """Both URLs, with the key."""
    bad = []
    for operation, url in (
        ("Add", trial.endpoint.add_url),
        ("Search", trial.endpoint.search_url),
    ):
        made = await trial.send("health", None, method="HEAD", url=url, auth=None)
        if made.status is None or made.status >= 400:
            bad.append((f"HEAD on {operation} was answered {made.summary}", made))
    trial.require(not bad, "; ".join(words for words, _ in bad), *(made for _, made in bad))
