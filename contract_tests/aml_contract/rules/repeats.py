"""The platform sends again: what was stored once stays stored once (clauses R1 to R3, R5)."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from aml_contract.exchange import Exchange
from aml_contract.finding import NotTested
from aml_contract.outcome import Level
from aml_contract.rule import Cost, Need, rule
from aml_contract.techniques.copies import (
    Control,
    copies,
    copies_found,
    ordinary_add,
    replayed,
    same_success,
)
from aml_contract.techniques.steps import refused
from aml_contract.techniques.twins import blames_the_id
from aml_contract.trial import Trial

DATED = 1704067200000
"""2024-01-01 in Unix milliseconds."""
AT_ONCE = 8
"""Identical Adds sent at the same moment."""


@rule(
    "repeats/again",
    level=Level.MUST,
    clauses=("R1",),
    title="The same Add sent again succeeds again and stores nothing.",
    why="The platform retries after lost answers, up to 32 times; a doubled chunk fills the "
    "evidence with copies, a refused retry ends the run.",
    fix="Remember (user_id, request_id) with the data, in one transaction, and answer a "
    "repeat from it.",
    cost=Cost(adds=8, searches=6),
    modes=(34,),
    peers=("P40", "P41", "P42", "P43"),
)
async def again(t: Trial) -> None:
    """Three times, with timestamps and without; copies are counted before and after."""
    for dated in (True, False):
        user, marker = t.ns.user(), t.ns.marker()
        message: dict[str, Any] = {"role": "user", "content": marker.text}
        if dated:
            message["timestamp"] = DATED
        body = t.add_body(user, message, t.ns.marker().text)
        control = await Control.add(t, messages=2)
        first = await ordinary_add(t, body)
        before = await copies_found(t, user, marker)
        for _ in range(2):
            exchange = await replayed(t, body, "the same Add sent again")
            same_success(t, first, exchange)
        await control.none_more(t, user, marker, before, first, exchange)


@rule(
    "repeats/concurrent",
    level=Level.MUST,
    clauses=("R1", "R5"),
    title="Identical Adds at the same moment store one record.",
    why="A retry may overtake its first try; a check that is not atomic stores both.",
    fix="Claim (user_id, request_id) before the work, with a unique index or a lock; let the "
    "others wait for the first, or answer 409.",
    cost=Cost(adds=24 + 6, searches=6),
    modes=(36,),
    peers=("P47",),
    cases=("B11",),
    quick=False,
)
async def concurrent(t: Trial) -> None:
    """Eight at once, in three rounds; an Add sent once shows how many copies are normal."""
    for _ in range(1 if t.run.quick else 3):
        user, marker = t.ns.user(), t.ns.marker()
        body = t.add_body(user, marker.text)
        control = await Control.add(t)
        answers = await t.together(*(t.send_add(body) for _ in range(AT_ONCE)))
        if odd := [e.summary for e in answers if e.status not in (200, 409)]:
            t.note(f"{len(odd)} of {AT_ONCE} identical Adds at once were answered {odd[0]}")
        for exchange in answers:
            t.require(
                exchange.status == 200 or exchange.retryable,
                f"one of {AT_ONCE} identical Adds at once was answered {exchange.summary}; "
                "200 and 409 are right",
                exchange,
            )
        last = await replayed(t, body, f"an Add sent again after {AT_ONCE} at once")
        await control.none_more(t, user, marker, None, *answers[:2], last)


@rule(
    "repeats/concurrent-visible",
    level=Level.MUST,
    clauses=("R1", "R5", "A12"),
    title="A repeat is answered 200 only once the first try has finished.",
    why="A repeat that overtakes and says 200 promises what is not there yet.",
    fix="Mark a request done after its messages are findable, not when it arrives.",
    cost=Cost(adds=AT_ONCE + 1, searches=AT_ONCE + 1),
    modes=(37,),
    peers=("P47",),
)
async def concurrent_visible(t: Trial) -> None:
    """Eight at once; after each 200 a Search at once."""
    user, marker = t.ns.user(), t.ns.marker()
    body = t.add_body(user, marker.text)

    async def add_then_look() -> tuple[Exchange, Exchange] | None:
        added = await t.send_add(body)
        if added.status != 200:
            return None
        return added, await t.search_exchange(user, marker.query)

    answered = [
        pair for pair in await t.together(*(add_then_look() for _ in range(AT_ONCE))) if pair
    ]
    if not answered:
        raise NotTested(
            f"none of {AT_ONCE} identical Adds at once was answered 200 "
            "(see structure/legal-requests)"
        )
    for added, found in answered:
        if t.showing(t.items(found), marker):
            continue
        plain = t.ns.marker()
        await t.add(other := t.ns.user(), plain.text)
        if not await t.find(other, plain):
            raise NotTested("no Add is visible at once here (see visibility/immediate)", found)
        t.fail(
            f"one of {AT_ONCE} identical Adds was answered 200, and the Search right after "
            "does not find the message",
            added,
            found,
        )


@rule(
    "repeats/reordered-keys",
    level=Level.SHOULD,
    clauses=("R3",),
    title="A repeat with its keys in another order is the same Add.",
    why="Another client library, or another version, may write the same object differently.",
    fix="Compare validated fields, not raw bytes.",
    cost=Cost(adds=3, searches=3),
    modes=(41,),
)
async def reordered_keys(t: Trial) -> None:
    """Keys of body and message reversed, and the JSON spaced differently."""

    def reorder(body: dict[str, Any]) -> bytes:
        turned = {key: body[key] for key in reversed(body)}
        turned["messages"] = [{k: m[k] for k in reversed(m)} for m in body["messages"]]
        return json.dumps(turned, indent=1).encode()

    await _same_meaning(t, reorder, "with its keys in another order")


@rule(
    "repeats/number-form",
    level=Level.SHOULD,
    clauses=("R3", "A7"),
    title="A repeat that writes its timestamp 1704067200000.0 is the same Add.",
    why="1.0 and 1 are one number in JSON; clients differ in which they write.",
    fix="Compare validated fields, timestamps as whole milliseconds.",
    cost=Cost(adds=3, searches=3),
    modes=(41, 8),
)
async def number_form(t: Trial) -> None:
    """The timestamp as an integer first, as a float then."""

    def as_float(body: dict[str, Any]) -> bytes:
        return json.dumps(body).replace(str(DATED), f"{DATED}.0").encode()

    await _same_meaning(t, as_float, "with its timestamp written as a float")


@rule(
    "repeats/unknown-keys",
    level=Level.SHOULD,
    clauses=("R3", "A8"),
    title="A repeat with an unknown key more is the same Add.",
    why="What is ignored must not decide whether a write is a repeat.",
    fix="Compare the known fields only.",
    cost=Cost(adds=3, searches=3),
    modes=(41,),
)
async def unknown_keys(t: Trial) -> None:
    """One unknown key at the top and one in the message."""

    def extend(body: dict[str, Any]) -> bytes:
        messages = [{**message, "x_hint": 1} for message in body["messages"]]
        return json.dumps({**body, "messages": messages, "x_trace": "retry"}).encode()

    await _same_meaning(t, extend, "with unknown keys beside it")


@rule(
    "repeats/after-restart",
    level=Level.MUST,
    clauses=("R1",),
    title="A repeat is recognised after a restart.",
    why="A run that resumes after a restart sends its last Adds again.",
    fix="Keep the handled requests on disk beside the data, not in a dict.",
    cost=Cost(adds=3, searches=4),
    needs={Need.RESTART},
    modes=(35,),
    peers=("P48",),
    exclusive=True,
    quick=False,
)
async def after_restart(t: Trial) -> None:
    """Counted, stopped, started, sent again, counted again."""
    user, marker = t.ns.user(), t.ns.marker()
    body = t.add_body(user, marker.text)
    control = await Control.add(t)
    first = await ordinary_add(t, body)
    before = await copies_found(t, user, marker)
    await t.process.restart()
    exchange = await replayed(t, body, "an Add sent again after a restart")
    same_success(t, first, exchange)
    await control.none_more(t, user, marker, before, first, exchange)


@rule(
    "repeats/after-kill",
    level=Level.MUST,
    clauses=("R1", "A12"),
    title="A repeat is recognised after kill -9 straight after the first answer.",
    why="The answer may be lost with the process: the platform sends the Add again.",
    fix="Commit the data and the handled request in one transaction before answering.",
    cost=Cost(adds=3, searches=3),
    needs={Need.RESTART, Need.KILL},
    modes=(29, 35),
    peers=("P48", "P49"),
    exclusive=True,
    quick=False,
)
async def after_kill(t: Trial) -> None:
    """Killed at the first 200, started, sent again; an Add sent once says what is normal."""
    user, marker = t.ns.user(), t.ns.marker()
    body = t.add_body(user, marker.text)
    control = await Control.add(t)
    first = await ordinary_add(t, body)
    await t.process.kill()
    await t.process.start()
    exchange = await replayed(t, body, "an Add sent again after kill -9")
    same_success(t, first, exchange)
    await control.none_more(t, user, marker, None, first, exchange)


@rule(
    "repeats/same-text",
    level=Level.MAY,
    clauses=("R1", "A3"),
    title="The same sentence in two sessions is found, under request ids of its own.",
    why="People repeat themselves; the second date may be the one that is asked for.",
    fix="Recognise repeats by request_id, never by text.",
    cost=Cost(adds=2, searches=2),
    modes=(43,),
    peers=("P51",),
)
async def same_text(t: Trial) -> None:
    """One text in two sessions a month apart."""
    user, marker = t.ns.user(), t.ns.marker()
    message: dict[str, Any] = {"role": "user", "content": marker.text, "timestamp": DATED}
    first = await t.add(user, message)
    before = await copies_found(t, user, marker)
    second = await t.add(user, {**message, "timestamp": DATED + 31 * 86_400_000})
    exchange = await t.search_exchange(user, marker.query)
    after = copies(t, t.items(exchange), marker)
    t.require(
        after > 0, "a sentence said in two sessions is not found at all", first, second, exchange
    )
    if after <= before:
        t.note("the same sentence of two sessions came back once")


async def _same_meaning(t: Trial, rewrite: Callable[[dict[str, Any]], bytes], how: str) -> None:
    """A repeat that only looks different: a refusal is a risk, a second copy a violation.

    Raises:
        NotTested: the form is refused in a first Add as well: no matter of repeats.
    """
    user, marker = t.ns.user(), t.ns.marker()
    message: dict[str, Any] = {"role": "user", "content": marker.text, "timestamp": DATED}
    body = t.add_body(user, message)
    control = await Control.add(t)
    first = await ordinary_add(t, body)
    before = await copies_found(t, user, marker)
    exchange = await t.insist("add", rewrite(body))
    if exchange.status == 200:
        await control.none_more(t, user, marker, before, first, exchange)
    elif exchange.status == 409 or blames_the_id(exchange):
        fresh = rewrite(body | {"request_id": t.ns.request(), "user_id": t.ns.user()})
        if refused(await t.insist("add", fresh)):
            raise NotTested(
                f"a first Add {how} is refused too (see input/unknown-keys, time/integral-float)",
                exchange,
            )
        t.warn(f"a repeat {how} was answered {exchange.summary}, not 200", first, exchange)
