"""One request_id, two bodies: which of them is there afterwards (clause R4)."""

from __future__ import annotations

from aml_contract.exchange import Exchange
from aml_contract.finding import NotTested
from aml_contract.namespace import Marker
from aml_contract.outcome import Level
from aml_contract.rule import Cost, rule
from aml_contract.trial import Trial


@rule(
    "repeats/first-write-stays",
    level=Level.MUST,
    clauses=("R4", "A14", "A12"),
    title="Another body under a request_id used before takes nothing away.",
    why="An upsert by request_id replaces what was acknowledged; after a refusal, nothing of "
    "the refused body may be there.",
    fix="Never overwrite by request_id: compare the body, and refuse another one before storing.",
    cost=Cost(adds=2, searches=3),
    modes=(38,),
    peers=("P45",),
    cases=("B12",),
)
async def first_write_stays(t: Trial) -> None:
    """The old text stays; after a 4xx the new one is not there."""
    user, old, new, first, second = await _conflict(t)
    found = await t.search_exchange(user, old.query)
    t.require(
        bool(t.showing(t.items(found), old)),
        "an acknowledged message is gone after another body came under its request_id",
        first,
        second,
        found,
    )
    found = await t.search_exchange(user, new.query)
    refused = second.status is not None and 400 <= second.status < 500
    t.require(
        not (refused and t.showing(t.items(found), new)),
        f"the other body was refused with {second.summary}, yet its message is found",
        second,
        found,
    )


@rule(
    "repeats/conflicting-body",
    level=Level.SHOULD,
    clauses=("R4",),
    title="Another body under a request_id used before is refused, best with 422.",
    why="Taken for a repeat, its text is lost in silence; stored, the retry of either is in doubt.",
    fix="Compare a digest of the validated body, and answer 422 where it differs.",
    cost=Cost(adds=2, searches=2),
    modes=(38, 39),
    peers=("P44",),
    cases=("B12",),
)
async def conflicting_body(t: Trial) -> None:
    """4xx and nothing of the new text; a silent 200 and a 409 are risks."""
    user, _, new, _, second = await _conflict(t)
    found = await t.search_exchange(user, new.query)
    t.require(
        not t.showing(t.items(found), new),
        f"the other body under the same request_id was answered {second.summary} and stored",
        second,
        found,
    )
    if second.status == 200:
        t.warn(
            "the other body was answered 200 though nothing of it was stored: "
            "its text is lost in silence",
            second,
        )
    elif second.status == 409:
        t.warn(
            "the other body was answered 409, which the platform sends again up to 32 times; "
            "422 says never",
            second,
        )
    else:
        t.require(
            second.status is not None and second.status < 500,
            f"the other body was answered {second.summary}, which the platform sends again",
            second,
        )


async def _conflict(t: Trial) -> tuple[str, Marker, Marker, Exchange, Exchange]:
    """One request_id, two bodies; the user, both markers, both exchanges."""
    user, request, session = t.ns.user(), t.ns.request(), t.ns.session()
    old, new = t.ns.marker(), t.ns.marker()
    first = await t.add(user, old.text, request=request, session=session)
    if not await t.find(user, old):
        raise NotTested("an ordinary message is not found (see visibility/immediate)", first)
    body = t.add_body(user, new.text, request=request, session=session)
    second = await t.send_add(body)
    if second.status in (None, 408, 425, 429, 503):
        second = await t.insist("add", body)
    if second.status in (None, 408, 425, 429, 503):
        raise NotTested(f"the second Add was answered {second.summary} again and again", second)
    return user, old, new, first, second
