"""What rules about load do: send while the endpoint is busy, and tell "later" from "lost".

"Not accepted" and "answered with a retryable status" are never "lost": only what was
acknowledged with 200 must be there afterwards.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from aml_contract.endpoint.retry import send_again
from aml_contract.exchange import Exchange, NotStrictJSONError, Operation
from aml_contract.techniques.steps import BUSY_ATTEMPTS, planted
from aml_contract.techniques.streams import LATER
from aml_contract.techniques.twins import Stored, no_leaks
from aml_contract.trial import Trial


async def served(t: Trial, operation: Operation, body: Mapping[str, Any], busy: str) -> Exchange:
    """Send under load, again while the answer asks for it; 200 or a final refusal."""

    async def once(number: int) -> Exchange:
        return await t.send(operation, body, fresh=number > 1)

    made = await send_again(once, attempts=BUSY_ATTEMPTS, patience=t.run.patience)
    if made.status == 200:
        return made
    name = operation.capitalize()
    t.require(
        not made.retryable,
        f"with {busy}, as declared, the answer to an ordinary {name} was still {made.summary} "
        f"after {BUSY_ATTEMPTS} tries",
        made,
    )
    return made


async def calmly(t: Trial, made: Exchange, body: Mapping[str, Any], busy: str) -> Exchange:
    """Send again what load has refused; a final refusal of what then works was the load's.

    Raises:
        Violation: it was told "never".
        NotTested: it does not work without load either.
    """
    name = made.operation.capitalize()
    article = "an" if made.operation == "add" else "a"
    calm = await t.insist(made.operation, body)
    if calm.status != 200:
        raise t.refused(calm)
    t.require(
        made.retryable or (made.status or 0) < 400,
        f"with {busy}, {article} {name} was answered {made.summary}, which is never sent "
        "again, and worked a moment later: temporary trouble must be 429 or 5xx",
        made,
        calm,
    )
    return calm


def own_ids(t: Trial, body: Mapping[str, Any], made: Exchange, busy: str) -> None:
    """The answer is the one to this Add, not to another in flight."""
    try:
        answer = made.json
    except NotStrictJSONError:
        return  # structure/add-json
    for name in ("request_id", "user_id", "session_id"):
        if isinstance(answer, dict) and isinstance(answer.get(name), str):
            t.require(
                answer[name] == body[name],
                f"with {busy}, an Add was answered with the {name} of another",
                made,
            )


async def each_found(t: Trial, stored: Sequence[Stored], when: str) -> None:
    """Every user finds what was acknowledged to it, and nothing of the others."""

    async def look(user: str) -> None:
        own = [one for one in stored if one.user == user]
        exchange = await t.search_exchange(user, own[0].marker.query)
        no_leaks(t, user, exchange, stored)
        items = t.items(exchange)
        for one in own:
            if not t.showing(items, one.marker):
                await found_in_the_end(t, one, when)

    await t.together(*map(look, dict.fromkeys(one.user for one in stored)))


async def found_in_the_end(t: Trial, one: Stored, when: str) -> None:
    """The message is there, at the latest at a second look: lateness is judged elsewhere."""
    for seconds in (0.0, LATER):
        await t.pause(seconds)
        exchange = await t.search_exchange(one.user, one.marker.query)
        if t.showing(t.items(exchange), one.marker):
            return
    await planted(t, t.ns.user())  # a memory that finds nothing at all is another finding
    t.fail(f"a message acknowledged {when} is lost", one.added, exchange)


def say_what_was_not_accepted(t: Trial, made: Sequence[Exchange]) -> None:
    """Connections without an answer are a risk; retryable answers are as it should be."""
    silent = [exchange for exchange in made if exchange.status is None]
    if silent:
        words, _ = Counter(exchange.error for exchange in silent).most_common(1)[0]
        t.warn(
            f"{len(silent)} of {len(made)} simultaneous connections brought no answer ({words}): "
            "they were not accepted, which is no loss, and are sent again; the listen backlog "
            "may be too short",
            silent[0],
        )
    later = Counter(e.status for e in made if e.status not in (None, 200) and e.retryable)
    for status, count in sorted(later.items(), key=str):
        t.note(f"{count} of {len(made)} Adds at once were answered {status} and sent again")


def said_later(t: Trial) -> str:
    """How many requests of this rule were told to come later, in words."""
    again = Counter(e.summary for e in t.exchanges if e.status != 200)
    return "".join(f", {count} answered {what} and sent again" for what, count in again.items())
