"""``errors/store-fault-*``: a store or a provider that fails is said to fail (F3, S11, A12).

The operator breaks what the endpoint depends on (``--fault-cmd``), the rules look, and
``--heal-cmd`` undoes it.
"""

from __future__ import annotations

from collections.abc import Sequence

from aml_contract.exchange import Exchange
from aml_contract.finding import NotTested
from aml_contract.namespace import Marker
from aml_contract.outcome import Level
from aml_contract.rule import Cost, Need, rule
from aml_contract.techniques.faults import NO_EFFECT, broken, temporary, while_broken
from aml_contract.techniques.meaning import BESIDE, SAID
from aml_contract.techniques.steps import data_of, planted
from aml_contract.trial import Trial

FAULT = frozenset({Need.FAULT})
CATCHING_UP = 3.0
"""Seconds after the fault in which what was missed may be made up for."""
FIX = (
    "Let the store's or provider's error end the request with 503, before anything else is "
    "answered."
)


@rule(
    "errors/store-fault-add",
    level=Level.MUST,
    clauses=("F3", "A12"),
    title="While the store or a provider is down, an Add is not acknowledged and may be repeated.",
    why="A 200 loses what the platform never sends again; a 4xx ends the run for good.",
    fix=FIX,
    cost=Cost(adds=5, searches=11),
    needs=FAULT,
    modes=(27, 92),
    cases=("B13", "B14"),
    exclusive=True,
    quick=False,
)
async def store_fault_add(trial: Trial) -> None:
    """Three Adds while it is broken; what was acknowledged must be there when it is healed."""
    user = trial.ns.user()
    await planted(trial, user)
    told = [(who, trial.ns.marker()) for who in (user, trial.ns.user(), user)]
    acknowledged = []
    async with broken(trial):
        for who, marker in told:
            made = await while_broken(trial, "add", trial.add_body(who, marker.text))
            if made.status == 200:
                acknowledged.append((who, marker, made))
                continue
            trial.require(
                temporary(made),
                f"while the fault held, an Add was answered {made.summary}, which the platform "
                "never sends again",
                made,
            )
    for who, marker, made in acknowledged:
        trial.require(
            await found_at_last(trial, who, marker),
            "while the fault held, an Add was answered 200, and its message is not found after "
            "the fault was healed",
            made,
            trial.last_exchange_of("search"),
        )
    if len(acknowledged) == len(told):
        raise NotTested(f"{NO_EFFECT} on Add: every one succeeded, and its message is found")


@rule(
    "errors/store-fault-search",
    level=Level.MUST,
    clauses=("F3", "S11"),
    title="While the store or a provider is down, a Search is answered well or to be repeated.",
    why="A 4xx is never sent again: one question after another is lost for good.",
    fix=FIX,
    cost=Cost(adds=4, searches=13),
    needs=FAULT,
    modes=(92,),
    cases=("B24",),
    exclusive=True,
    quick=False,
)
async def store_fault_search(trial: Trial) -> None:
    """Six Searches of a user with memories; they are found again when it is healed."""
    user, markers = await user_with_memories(trial)
    answers = await searched_while_broken(trial, user, markers)
    for _, made in answers:
        trial.require(
            made.status == 200 or temporary(made),
            f"while the fault held, a Search was answered {made.summary}, which the platform "
            "never sends again",
            made,
        )
    for marker in markers:
        trial.require(
            await found_at_last(trial, user, marker),
            "a message that was found before the fault is gone after it was healed",
            trial.last_exchange_of("search"),
        )
    had_effect(trial, answers)


@rule(
    "errors/store-fault-empty",
    level=Level.SHOULD,
    clauses=("S11",),
    title="A Search whose store fails is not answered as if nothing had been stored.",
    why="An empty list is taken as the truth: the question is answered without evidence.",
    fix="Tell 'nothing found' from 'could not look': answer 503 for the latter.",
    cost=Cost(adds=4, searches=10),
    needs=FAULT,
    modes=(67,),
    cases=("B24",),
    exclusive=True,
    quick=False,
)
async def store_fault_empty(trial: Trial) -> None:
    """Six Searches of a user with memories: none may come back 200 and empty."""
    user, markers = await user_with_memories(trial)
    answers = await searched_while_broken(trial, user, markers)
    answered = [(marker, made) for marker, made in answers if made.status == 200]
    for _, made in answered:
        trial.require(
            bool(data_of(trial, made)),
            "while the fault held, a Search of a user with memories was answered 200 with an "
            "empty list",
            made,
        )
    for marker, made in answered:
        if not trial.showing(trial.items(made), marker):
            trial.warn("while the fault held, a Search found less than before, and said 200", made)
            return
    had_effect(trial, answers)


@rule(
    "errors/store-fault-meaning",
    level=Level.SHOULD,
    clauses=("A12", "F3"),
    title="An Add that is acknowledged while a provider is down is found by its meaning too.",
    why="A 200 that fell back to words alone hides the chunk from every question in other words, "
    "for good: it is never sent again.",
    fix="Answer 503 while the embedder fails, or embed what it missed before you answer the next "
    "Search.",
    cost=Cost(adds=9, searches=13),
    needs=FAULT,
    modes=(27,),
    cases=("B14",),
    exclusive=True,
    quick=False,
)
async def store_fault_meaning(trial: Trial) -> None:
    """Four facts before and during the fault; asked for in other words after it.

    Only facts count that the same question finds where they were stored before.
    """
    known = [(text, question, trial.ns.user()) for text, question in SAID]
    for text, _, user in known:
        await trial.add(user, *BESIDE, text)
    told = []
    async with broken(trial):
        for text, question, before in known:
            user = trial.ns.user()
            made = await while_broken(trial, "add", trial.add_body(user, *BESIDE, text))
            if made.status == 200:
                told.append((text, question, before, user, made))
    await trial.pause(CATCHING_UP)
    blind, by_meaning = [], 0
    for text, question, before, user, made in told:
        marker = Marker(text, question)
        if not trial.showing(await trial.search(before, question, top_k=3), marker):
            continue
        by_meaning += 1
        if not trial.showing(await trial.search(user, question, top_k=3), marker):
            blind.append((question, made, trial.last_exchange_of("search")))
    if told and not by_meaning:
        trial.note("questions in other words find none of these facts, fault or not")
    if blind:
        question, *shown = blind[0]
        trial.fail(
            f"{len(blind)} of {by_meaning} facts whose Add was answered 200 while the fault held "
            f"are not found by a question in other words, as {question!r}; told before the "
            "fault, they are",
            *shown,
        )
    if len(told) == len(known):
        raise NotTested(f"{NO_EFFECT} on Add: every one was answered and found as usual")


async def user_with_memories(trial: Trial) -> tuple[str, list[Marker]]:
    """A user with three messages that are found."""
    user = trial.ns.user()
    return user, [await planted(trial, user) for _ in range(3)]


async def searched_while_broken(
    trial: Trial, user: str, markers: Sequence[Marker]
) -> list[tuple[Marker, Exchange]]:
    """Each message asked for twice while the fault holds; the endpoint works again on return."""
    answers = []
    async with broken(trial):
        for top_k in (100, 10):  # not only what a cache may know
            for marker in markers:
                body = trial.search_body(user, marker.query, top_k)
                answers.append((marker, await while_broken(trial, "search", body)))
    return answers


def had_effect(trial: Trial, answers: Sequence[tuple[Marker, Exchange]]) -> None:
    """At least one Search did not go as usual.

    Raises:
        NotTested: all did.
    """
    if all(
        made.status == 200 and trial.showing(trial.items(made), marker) for marker, made in answers
    ):
        raise NotTested(f"{NO_EFFECT} on Search: every one was answered as usual")


async def found_at_last(trial: Trial, user: str, marker: Marker) -> bool:
    """Whether the marker is found, now or a little later."""
    for wait in (0.0, 1.0, 3.0):
        await trial.pause(wait)
        if await trial.find(user, marker):
            return True
    return False
