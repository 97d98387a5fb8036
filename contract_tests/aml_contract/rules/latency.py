"""latency/*: how long ordinary requests took, over the whole run (clauses F2, A12).

These rules run last and judge what all others measured. Where a run sent too little to
judge, as under ``--only latency``, they send a few requests of their own. Times include
the kit's own share of about a millisecond.
"""

from __future__ import annotations

from statistics import median

from aml_contract.exchange import Exchange
from aml_contract.latency import in_words, latency_of
from aml_contract.outcome import Level
from aml_contract.rule import Cost, rule
from aml_contract.trial import Trial

_ENOUGH = 5
"""Requests below which percentiles say nothing."""
_FULL_CHUNK = 20, 100
"""Messages and words a message: the largest chunk the platform cuts (2,000 words)."""


@rule(
    "latency/add",
    level=Level.MUST,
    clauses=("F2",),
    title="An Add, the largest chunk included, is answered in time.",
    why="The platform gives up after 30 minutes, and the proxies in front of real entries "
    "after 100 to 125 seconds; an Add that is cut off is sent again, up to 32 times.",
    fix="Do less before the 200: embed in batches, index incrementally, and take the work "
    "that nobody waits for out of the request.",
    cost=Cost(adds=_ENOUGH),
    modes=(32,),
    peers=("P141", "P142"),
    last=True,
)
async def add(trial: Trial) -> None:
    """Sends one full chunk, unless in a hurry, then judges every ordinary Add of the run."""
    user = trial.ns.user()
    messages, words = _FULL_CHUNK
    if not trial.run.quick:
        await trial.add(
            user, *(" ".join(trial.ns.word() for _ in range(words)) for _ in range(messages))
        )
    for _ in range(_ENOUGH - len(trial.run.seconds_of("add"))):
        await trial.add(user, trial.ns.marker().text)
    _judge(trial, "add")


@rule(
    "latency/search",
    level=Level.MUST,
    clauses=("F2",),
    title="A Search is answered in time.",
    why="The platform gives up after 30 minutes, and the proxies in front of real entries "
    "after 100 to 125 seconds; a Search is tried a few times only, then its question is lost.",
    fix="Keep the index in memory or on a local disk, bound what a Search reads by the "
    "user's own memories, and answer 503 rather than let a request wait.",
    cost=Cost(searches=_ENOUGH),
    peers=("P141", "P142"),
    last=True,
)
async def search(trial: Trial) -> None:
    """Judges every ordinary Search of the run."""
    user = trial.ns.user()
    for _ in range(_ENOUGH - len(trial.run.seconds_of("search"))):
        await trial.search(user, trial.ns.marker().query)
    _judge(trial, "search")


@rule(
    "latency/cold-start",
    level=Level.MAY,
    clauses=("F2",),
    title="The first request is about as fast as the others.",
    why="A model or an index that is loaded by the first request makes it the slowest of "
    "the run, and a proxy may cut it off.",
    fix="Load models and open the store at start, before health answers 200.",
    cost=Cost(searches=_ENOUGH),
    modes=(98,),
    peers=("P141",),
    last=True,
)
async def cold_start(trial: Trial) -> None:
    """Compares the first Add and the first Search with the median of their kind."""
    user = trial.ns.user()
    for _ in range(_ENOUGH - len(trial.run.seconds_of("search"))):
        await trial.search(user, trial.ns.marker().query)
    for operation in ("add", "search"):
        made = [e for e in trial.run.ordinary if e.operation == operation and e.status == 200]
        if len(made) < _ENOUGH:
            continue
        first = min(made, key=lambda exchange: exchange.started)
        usual = median(exchange.seconds for exchange in made)
        trial.figure(f"first_{operation}", first.seconds)
        trial.note(
            f"the first {operation.capitalize()} took {in_words(first.seconds)}, "
            f"the median is {in_words(usual)}"
        )
        trial.require(
            first.seconds < max(trial.run.slow_start, 10 * usual),
            f"the first {operation.capitalize()} took {in_words(first.seconds)} although the "
            f"median is {in_words(usual)}: something is loaded by the first request",
            first,
        )


def _judge(trial: Trial, operation: str) -> None:
    run = trial.run
    if found := latency_of(run.seconds_of(operation)):
        trial.note(str(found))
        for name in ("count", "p50", "p95", "p99", "max"):
            trial.figure(name, getattr(found, name))
    # A request that was given up counts too: it took at least as long.
    slow = [made for made in run.ordinary if made.operation == operation]
    slowest = max(slow, key=lambda exchange: exchange.seconds)
    trial.require(
        slowest.seconds <= run.fail_latency,
        f"{_slower(slow, run.fail_latency, operation)}: the platform gives up then",
        slowest,
    )
    if slowest.seconds > run.warn_latency:
        trial.warn(
            f"{_slower(slow, run.warn_latency, operation)}: proxies cut off soon after that",
            slowest,
        )


def _slower(exchanges: list[Exchange], limit: float, operation: str) -> str:
    over = [made.seconds for made in exchanges if made.seconds > limit]
    kind = "an Add" if operation == "add" else "a Search"
    return (
        f"{kind} took {in_words(max(over, default=0.0))}; "
        f"{len(over)} of {len(exchanges)} took longer than {in_words(limit)}"
    )
