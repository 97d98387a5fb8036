"""Steps that rules of several families take: unusual requests, controls, readings.

A rule about something unusual first shows that the ordinary works (``planted``), then
sends the unusual (``attempt``) and reads the answer by class, never by exact status: no
two readers of the contract agree on those.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from aml_contract.endpoint.retry import send_again
from aml_contract.exchange import Exchange, Operation
from aml_contract.finding import NotTested, Violation
from aml_contract.item import Item
from aml_contract.namespace import Marker
from aml_contract.techniques.readings import read_strictly
from aml_contract.trial import Trial

TEMPORARY = frozenset({408, 425, 429})
"""4xx that mean "later", not "never" (clause F3)."""
BUSY_ATTEMPTS = 8
"""Times something is sent to a server that asks for patience."""


async def attempt(
    trial: Trial, operation: Operation, body: Any, *, attempts: int = 3, **how: Any
) -> Exchange:
    """Send something unusual; a temporary answer is sent again, each time freshly connected.

    What is still a server error at the end was no bad luck.

    Raises:
        NotTested: the endpoint is too busy to say.
    """
    fresh = how.pop("fresh", False)

    async def once(number: int) -> Exchange:
        return await trial.send(operation, body, fresh=fresh or number > 1, **how)

    made = await send_again(once, attempts=attempts, patience=trial.run.patience, heed=True)
    if made.status in TEMPORARY:
        made = await send_again(once, attempts=BUSY_ATTEMPTS, patience=trial.run.patience)
    if made.status in TEMPORARY:
        raise NotTested(f"the endpoint was too busy to say ({made.summary})", made)
    return made


def refused(exchange: Exchange) -> bool:
    """Whether the answer says "never": a 4xx other than the temporary ones."""
    status = exchange.status
    return status is not None and 400 <= status < 500 and status not in TEMPORARY


def crashed(exchange: Exchange) -> bool:
    """Whether the server failed: a 5xx, or no answer at all; the platform sends it again."""
    return exchange.status is None or exchange.status >= 500


class Tolerance:
    """Sends what some readers refuse: all refusals are one warning in the end.

    Args:
        trial: the trial.
        risk: what a refusal costs, to end the warning.
    """

    def __init__(self, trial: Trial, risk: str) -> None:
        self._trial = trial
        self._risk = risk
        self._refusals: list[tuple[str, Exchange]] = []

    async def of(self, operation: Operation, body: Any, what: str) -> bool:
        """Send it; whether it was accepted with 200.

        Args:
            operation: Add or Search.
            body: the request.
            what: the request in words.

        Raises:
            Violation: 5xx or no answer.
            NotTested: neither 200 nor 4xx.
        """
        made = await attempt(self._trial, operation, body)
        if crashed(made):
            raise Violation(
                f"{what} was answered {made.summary}, which the platform sends again", made
            )
        if refused(made):
            self._refusals.append((what, made))
        elif made.status != 200:
            raise NotTested(f"{what} was answered {made.summary} (see structure/*)", made)
        return made.status == 200

    def report(self) -> None:
        """Warn of what was refused."""
        if self._refusals:
            names = "; ".join(f"{what} ({made.status})" for what, made in self._refusals)
            self._trial.warn(f"refused: {names}; {self._risk}", self._refusals[0][1])


async def planted(trial: Trial, user: str) -> Marker:
    """Store an ordinary marker and see it found: without it, a later miss says nothing.

    Raises:
        NotTested: the ordinary marker is not found (``visibility/immediate`` says so).
    """
    marker = trial.ns.marker()
    await trial.add(user, marker.text)
    if not await trial.find(user, marker):
        raise NotTested(
            "an ordinary message is not found (see visibility/immediate)",
            trial.last_exchange_of("search"),
        )
    return marker


async def see_working(trial: Trial, operation: Operation) -> None:
    """See an ordinary request of that kind succeed before something unusual is blamed.

    Where nothing works, a wrong URL or a proxy's page say, that is one finding and not
    many. For after the unusual went wrong, so that it costs an endpoint in order nothing.

    Raises:
        NotTested: it does not succeed; other rules say so.
    """
    user, marker = trial.ns.user(), trial.ns.marker()
    added = await trial.add(user, marker.text)
    if operation == "search":
        await trial.search(user, marker.query)
        return
    answer = read_strictly(added, "structure/add-json")
    if not isinstance(answer, dict) or answer.get("success") is not True:
        raise NotTested("an ordinary Add is no success (see structure/add-success)", added)


def valid_pair(
    trial: Trial,
) -> tuple[tuple[Operation, dict[str, Any]], tuple[Operation, dict[str, Any]]]:
    """A valid Add and a valid Search of a fresh user, to be spoilt or sent another way."""
    user, marker = trial.ns.user(), trial.ns.marker()
    return (
        ("add", trial.add_body(user, marker.text)),
        ("search", trial.search_body(user, marker.query)),
    )


def in_pieces(trial: Trial, items: Sequence[Item], marker: Marker) -> bool:
    """Whether a marker came back whole or cut up: systems split long texts anywhere.

    A cut may run through it, and only the part that the question shares words with comes
    back: three of its words show that it was kept. One that rewrites may have kept others.
    """
    together = "\n".join(item.content for item in items)
    return marker.leaks_into(together) or bool(trial.showing(items, marker))


def data_of(trial: Trial, exchange: Exchange) -> list[Any]:
    """The raw ``data`` list, entries that are no objects included.

    Raises:
        NotTested: there is none.
    """
    trial.items(exchange)
    data: list[Any] = exchange.json["data"]
    return data
