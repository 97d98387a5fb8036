"""How an endpoint fares while one user's history grows (failure mode 33)."""

from __future__ import annotations

import time
from statistics import median

from aml_contract.exchange import Exchange
from aml_contract.finding import NotTested
from aml_contract.latency import in_words
from aml_contract.outcome import Level
from aml_contract.rule import Cost, rule
from aml_contract.trial import Trial

_ADDS = 250
_CHUNK = 20
_SECONDS = 40.0
"""Seconds after which no further Add is begun."""
_FEWEST = 24
"""Adds below which there is no history to speak of."""
_WINDOW = 10
"""Adds at either end that are compared."""
_FACTOR = 10
"""Times slower that the end may be: scans are fine, squares are not."""


@rule(
    "load/growth",
    level=Level.SHOULD,
    clauses=("L1", "F2"),
    title="Adds and Searches of a user stay about as fast when its history is 5,000 messages.",
    why="Long conversations are the benchmark; an Add that rereads all that was said before "
    "takes minutes in the end.",
    fix="Index what is new instead of rebuilding; compare with a bounded number of neighbours; "
    "never put the whole history into a prompt.",
    cost=Cost(adds=_ADDS, searches=_ADDS),
    modes=(33,),
    peers=("P143",),
    exclusive=True,
    quick=False,
)
async def growth(t: Trial) -> None:
    """Chunks of 20, one after the other, each followed by a Search; first against last."""
    user, session = t.ns.user(), t.ns.session()
    until = time.monotonic() + _SECONDS * t.run.patience
    adds: list[Exchange] = []
    searches: list[Exchange] = []
    for number in range(_ADDS):
        if number and time.monotonic() > until:
            break
        markers = [t.ns.marker() for _ in range(_CHUNK)]
        adds.append(await t.add(user, *(marker.text for marker in markers), session=session))
        searches.append(await t.search_exchange(user, markers[-1].query))
    reached = f"{len(adds) * _CHUNK:,} messages"
    if len(adds) < _FEWEST:
        raise NotTested(f"Adds are too slow: only {reached} within the budget")
    if len(adds) < _ADDS:
        t.note(f"{reached} instead of {_ADDS * _CHUNK:,}: the budget was used up")
    for name, made in (("Add", adds), ("Search", searches)):
        # The very first requests open connections and load models.
        first = median(exchange.seconds for exchange in made[1 : 1 + _WINDOW])
        last = median(exchange.seconds for exchange in made[-_WINDOW:])
        t.figure(f"first_{name.lower()}", round(first, 6))
        t.figure(f"last_{name.lower()}", round(last, 6))
        words = f"{name}: {in_words(first)} at the beginning, {in_words(last)} after {reached}"
        t.note(words)
        t.require(
            last < max(t.run.slow_growth, _FACTOR * first),
            f"it grows slower with the history of a user; {words} (medians of {_WINDOW})",
            made[-1],
        )
