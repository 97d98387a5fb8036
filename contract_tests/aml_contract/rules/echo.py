"""The ids in the Add answer: opaque, and sent back as they came (clauses A1 to A3, A11)."""

from __future__ import annotations

import json
import uuid
from typing import Any

from aml_contract.exchange import Exchange, NotStrictJSONError
from aml_contract.finding import NotTested
from aml_contract.outcome import Level
from aml_contract.rule import Cost, rule
from aml_contract.techniques.twins import blames_the_id, show
from aml_contract.trial import Trial

IDS = ("request_id", "user_id", "session_id")


@rule(
    "echo/ids",
    level=Level.MUST,
    clauses=("A11",),
    title="The Add answer repeats request_id, user_id and session_id of its request.",
    why="The platform matches the answer to its write by these ids; a difference fails the write.",
    fix="Copy the three ids from the request into the answer.",
    cost=Cost(adds=2),
    modes=(22,),
    peers=("P18",),
)
async def ids(t: Trial) -> None:
    """Two Adds: the second would show an answer kept from the first."""
    user = t.ns.user()
    for _ in range(2):  # the second shows an echo of the user's first request
        _same_ids(t, await t.add(user, t.ns.marker().text))


@rule(
    "echo/opaque-request-ids",
    level=Level.MUST,
    clauses=("A1", "A11"),
    title="Any non-empty request_id is accepted: r_<hex>, a UUID, with spaces or Chinese in it.",
    why="An entrant parsed the chunk number out of request_id; real runs sent r_<hex>, and "
    "every Add failed.",
    fix="Treat request_id as an opaque string: compare it, never parse it.",
    cost=Cost(adds=6),
    modes=(3,),
    peers=("P21", "P22"),
    cases=("B04",),
)
async def opaque_request_ids(t: Trial) -> None:
    """One documented form as the control, then the others one by one."""
    user, tag = t.ns.user(), t.ns.request()
    _same_ids(t, await t.add(user, t.ns.marker().text, request=tag))
    number = t.ns.random.getrandbits(128)
    for request in (
        f"r_{number:032x}",
        str(uuid.UUID(int=number, version=4)),
        f"{tag} with two  spaces",
        f"{tag}:第一块",
        f"{number}",
    ):
        body = t.add_body(user, t.ns.marker().text, request=request)
        exchange = await t.insist("add", body)
        if exchange.status != 200 and blames_the_id(exchange):
            t.fail(
                f"request_id {show(request)} was answered {exchange.summary}; "
                "one like the documented example works",
                exchange,
            )
        _same_ids(t, exchange)


@rule(
    "echo/untouched",
    level=Level.MUST,
    clauses=("A11", "A1", "A2", "A3"),
    title="Ids come back untouched: nothing trimmed, folded, normalised or escaped.",
    why="An id that comes back trimmed or in another Unicode form is another id, and the "
    "write counts as failed.",
    fix="Never strip, lower or normalise ids; switch off str_strip_whitespace in pydantic.",
    cost=Cost(adds=14),
    modes=(23,),
    peers=("P21", "P22"),
)
async def untouched(t: Trial) -> None:
    """Padded, composed, decomposed, wide and invisible forms, each as all three ids."""
    plain = t.ns.user("Echo")
    await _echoed(
        t,
        [
            f" {plain}",
            f"{plain} ",
            f"\t{plain}",
            f"{plain}\n",
            f"\u00a0{plain}\u00a0",
            f"\u3000{plain}",
            f"{plain}-cafe\u0301",
            f"{plain}-caf\u00e9",
            f"{plain}-\uff35\uff11",
            f"{plain}-a\u200bb",
            f"\ufeff{plain}",
            f"{plain}-ÄÖ-İı-ß",
            f'{plain}-&amp;<b>"\\/%20+',
            plain.upper(),
        ],
    )


@rule(
    "echo/exotic",
    level=Level.MUST,
    clauses=("A11", "A1", "A2", "A3"),
    title="Ids with slashes, emoji, control characters or 1,000 characters come back exactly.",
    why="Ids are opaque; one that is cut, cleaned or replaced in the answer fails the write.",
    fix="Keep ids as they are and map them to safe keys inside, with a digest.",
    cost=Cost(adds=8),
    modes=(20, 23),
    peers=("P22",),
    cases=("B04",),
    quick=False,
)
async def exotic(t: Trial) -> None:
    """Forms that are hard to use as file names, keys or columns, each as all three ids."""
    plain = t.ns.user()
    await _echoed(
        t,
        [
            f"{plain}-équipe 7/überset.ru",
            f"../{plain}",
            f"{plain}/a//b/./c",
            f"{plain}-😀👩‍👩‍👧",
            f"{plain}-𠮷𝔘",
            f"{plain}-张伟",
            f"{plain}-{'x' * (1000 - len(plain) - 1)}",
            f"{plain}-\x1f\x7f",
        ],
    )


async def _echoed(t: Trial, forms: list[str]) -> None:
    """Send each form as all three ids; what is accepted must come back as it was sent."""

    async def send(form: str) -> Exchange:
        body = t.add_body(form, t.ns.marker().text, request=form, session=form)
        return await t.insist("add", body)

    exchanges = await t.together(*map(send, forms))
    refused = []
    for form, exchange in zip(forms, exchanges, strict=True):
        if exchange.status == 200:
            _same_ids(t, exchange)
        elif blames_the_id(exchange):
            refused.append((form, exchange))
    if len(refused) == len(forms):
        raise NotTested(
            "none of the ids was accepted (see structure/legal-requests)", refused[0][1]
        )
    if refused:
        form, exchange = refused[0]
        t.warn(
            f"{len(refused)} of {len(forms)} ids were refused, {show(form)} with "
            f"{exchange.summary}; ids are opaque",
            exchange,
        )


def _same_ids(t: Trial, exchange: Exchange) -> None:
    sent = json.loads(exchange.body)
    try:
        got: Any = exchange.json
    except NotStrictJSONError as error:
        raise NotTested("the answer is not JSON (see structure/add-json)", exchange) from error
    if not isinstance(got, dict) or not all(isinstance(got.get(name), str) for name in IDS):
        raise NotTested("the answer has no ids (see structure/add-success)", exchange)
    for name in IDS:
        t.require(
            got[name] == sent[name],
            f"{name} {show(sent[name])} came back as {show(got[name])}",
            exchange,
        )
