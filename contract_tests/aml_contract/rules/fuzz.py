"""fuzz/*: requests and histories that nobody thought of (clauses A, S, L2, R).

What they find is sent again before it is reported. They need the extra ``fuzz``, share the
run's fuzz budget, and run alone: they keep a core busy.
"""

from __future__ import annotations

import importlib.util
from typing import TYPE_CHECKING

from aml_contract.finding import NotTested
from aml_contract.latency import latency_of
from aml_contract.outcome import Level
from aml_contract.rule import Cost, rule
from aml_contract.trial import Trial

if TYPE_CHECKING:
    from aml_contract.fuzz.bridge import Bridge
    from aml_contract.fuzz.generated import Generator

_SHARES = {"fuzz/history": 0.5, "fuzz/schema": 0.3, "fuzz/invalid": 0.2}
"""Which part of the run's fuzz budget each rule has."""
_HISTORY = Cost(adds=3000, searches=3000)
_CANARIES = Cost(adds=2)
_GENERATED = Cost(adds=800, searches=800)


@rule(
    "fuzz/history",
    level=Level.MUST,
    clauses=("L2", "A2", "A11", "A12", "R1", "R2"),
    title="In no history does a user see, lose or double anything through what others do.",
    why="Ids that a server confuses, keys that two users share, caches and clean-ups show "
    "only in certain orders of calls, which full runs have and simple tests have not.",
    fix="Key everything by the exact pair of user_id and request_id; see the calls that are "
    "shown, they are the fewest.",
    cost=_HISTORY,
    modes=(40, 74, 75, 76, 77, 81),
    exclusive=True,
    quick=False,
)
async def history(t: Trial) -> None:
    """Histories of a state machine over look-alike users, requests and sessions."""
    bridge = _bridge(t, _HISTORY)
    from aml_contract.fuzz.machine import Search  # noqa: PLC0415  an extra, slow to import

    search = Search(bridge)
    await bridge.in_thread(search.run)
    _tell(t, bridge, f"{search.made} histories")
    for story in search.unrepeated:
        t.note(f"seen once, but not when it was sent again: {story.message}")
    if search.found is not None:
        story, breach = search.found
        t.repeat = {"history": [call.as_json() for call in story.calls]}
        t.fail(breach.message, *breach.shown)


@rule(
    "fuzz/schema",
    level=Level.MUST,
    clauses=("A11", "S5", "S6", "S7", "S10", "L2"),
    title="Every legal request is answered as the contract's document says, never with 5xx.",
    why="Real conversations hold every character and every length; an answer of another form "
    "ends the stage at once, and a chunk that gets a 5xx is sent 32 times first.",
    fix="Compare the answer with the document: content type, envelope, types. For a 5xx send "
    "the request that is shown to a local server and read its log.",
    cost=_GENERATED + _CANARIES,
    modes=(3, 31, 55, 57, 60),
    exclusive=True,
    quick=False,
)
async def schema(t: Trial) -> None:
    """Legal requests generated from the contract's own document, for canaries and strangers."""
    generator = await _generated(t, legal=True)
    worst = [found for found in generator.found if found.oddity is None]
    for found in generator.found:
        if found.oddity is not None:
            t.warn(found.message, *found.exchanges)
    if worst:
        t.repeat = {"sample": worst[0].suspect.sample.as_json(), "legal": True}
        others = "".join(f"\nalso: {found.message}" for found in worst[1:])
        t.fail(worst[0].message + others, *(e for found in worst for e in found.exchanges))
    if generator.found:
        t.repeat = {"sample": generator.found[0].suspect.sample.as_json(), "legal": True}


@rule(
    "fuzz/invalid",
    level=Level.SHOULD,
    clauses=("F3",),
    title="Invalid requests are refused with 4xx, never with 5xx.",
    why="A 5xx asks the platform to send again what can never succeed, up to 32 times.",
    fix="Validate the whole body before anything else is done, and map every validation "
    "error to 422.",
    cost=_GENERATED + _CANARIES,
    modes=(91,),
    exclusive=True,
    quick=False,
)
async def invalid(t: Trial) -> None:
    """Requests that the contract's document forbids, each for a reason that is told."""
    generator = await _generated(t, legal=False)
    for suspect, exchange in list(generator.accepted.values())[:5]:
        name = suspect.sample.operation.capitalize()
        t.warn(f"an invalid {name} ({suspect.reason}) was answered 200", exchange)
    if generator.found:
        first, *rest = generator.found
        t.repeat = {"sample": first.suspect.sample.as_json(), "legal": False}
        others = "".join(f"\nalso: {found.message}" for found in rest)
        t.fail(first.message + others, *(e for found in generator.found for e in found.exchanges))


async def _generated(t: Trial, *, legal: bool) -> Generator:
    bridge = _bridge(t, _GENERATED)
    from aml_contract.fuzz.generated import Generator  # noqa: PLC0415  an extra, slow to import
    from aml_contract.fuzz.sample import planted_canaries  # noqa: PLC0415  goes with it

    canaries = await planted_canaries(t)

    def work() -> Generator:
        made = Generator(bridge, legal=legal, canaries=canaries)
        made.run()
        return made

    generator = await bridge.in_thread(work)
    kind = "legal" if legal else "invalid"
    _tell(t, bridge, f"{generator.sent} {kind} requests, {generator.refused} of them refused")
    for suspect in generator.unrepeated:
        t.note(
            f"seen once, but not when it was sent again: {kind} {suspect.sample.operation} "
            f"{suspect.fault.message}"
        )
    return generator


def _bridge(t: Trial, cost: Cost) -> Bridge:
    for module in ("hypothesis", "schemathesis"):
        if importlib.util.find_spec(module) is None:
            raise NotTested(f"needs {module}: pip install 'aml-contract[fuzz]'")
    budget = t.run.fuzz_budget * _SHARES[t.rule.name]
    if budget <= 0:
        raise NotTested("the fuzz budget is 0 (--fuzz-budget)")
    from aml_contract.fuzz.bridge import Bridge  # noqa: PLC0415  only where it is used

    return Bridge(t, budget, cost)


def _tell(t: Trial, bridge: Bridge, what: str) -> None:
    t.note(what + (f"; {bridge.spent}" if bridge.spent else ""))
    for operation in ("add", "search"):
        times = [e.seconds for e in t.exchanges if e.operation == operation and e.status == 200]
        if found := latency_of(times):
            t.note(f"{operation.capitalize()}: {found}")
