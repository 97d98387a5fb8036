"""``evidence/*``: results are stored memories and nothing else (clauses S2, S12, S14)."""

from __future__ import annotations

import re

from aml_contract.exchange import Exchange
from aml_contract.finding import NotTested
from aml_contract.namespace import squeeze
from aml_contract.outcome import Level
from aml_contract.rule import Capability, Cost, rule
from aml_contract.techniques.steps import attempt, planted
from aml_contract.tokens import ANSWER_BUDGET, encode
from aml_contract.trial import Trial

RUN = 6
"""Words in a row that no answer shares with what was stored unless it was copied: one more
than the question of a topic has in common with its messages."""


@rule(
    "evidence/options-accepted",
    level=Level.MUST,
    clauses=("S2",),
    title="Search works with and without options.",
    why="Multiple-choice questions bring them, all others do not; either refusal ends a run.",
    fix="Make options an optional list of strings of any length; treat [] as absent.",
    cost=Cost(adds=1, searches=4),
    modes=(44,),
    peers=("P70",),
)
async def options_accepted(trial: Trial) -> None:
    """Absent, none, one, 26; what one form finds, the others find."""
    user, marker = trial.ns.user(), trial.ns.marker()
    await trial.add(user, marker.text)
    letters = [f"{chr(65 + i)}. {trial.ns.word()}" for i in range(26)]
    found: dict[str, Exchange] = {}
    blind: dict[str, Exchange] = {}
    for name, options in (
        ("without options", None),
        ("with empty options", []),
        ("with one option", letters[:1]),
        ("with 26 options", letters),
    ):
        body = trial.search_body(user, marker.query, options=options)
        made = await attempt(trial, "search", body)
        trial.require(made.status == 200, f"a Search {name} was answered {made.summary}", made)
        showing = trial.showing(trial.items(made), marker)
        (found if showing else blind)[name] = made
    if not found:
        raise NotTested("a stored message is not found (see visibility/immediate)", *blind.values())
    for name, made in blind.items():
        other, shown = next(iter(found.items()))
        trial.warn(f"a Search {name} does not find what the same Search {other} finds", shown, made)


@rule(
    "evidence/options-never-returned",
    level=Level.MUST,
    clauses=("S2", "S12"),
    title="The text of an option never comes back as evidence.",
    why="An option that was never said is forged evidence: it disqualifies an entry.",
    fix="Use options to rank at most; never store, echo or append them.",
    cost=Cost(adds=1, searches=3),
    modes=(45,),
    peers=("P69",),
)
async def options_never_returned(trial: Trial) -> None:
    """Options made of words that nobody stored; also in the Search after."""
    user = trial.ns.user()
    marker = await planted(trial, user)
    foreign = [trial.ns.marker() for _ in range(2)]
    options = [f"{letter}. {m.text}" for letter, m in zip("AB", foreign, strict=True)]
    first = await trial.search_exchange(user, marker.query, options=options)
    after = await trial.search_exchange(user, foreign[0].query)
    for when, exchange in (("of the same Search", first), ("of a later Search", after)):
        for item in trial.items(exchange):
            trial.require(
                not any(m.leaks_into(item.content) for m in foreign),
                f"the text of an option came back in a result {when}",
                exchange,
            )


@rule(
    "evidence/generated-text",
    level=Level.MAY,
    clauses=("S12",),
    title="Results come from what was stored.",
    why="Generated answers in place of evidence are against the rules of the leaderboard.",
    fix="Return stored memories, or facts derived from them when they were added.",
    cost=Cost(adds=1, searches=2),
    modes=(68,),
    peers=("P69",),
    cases=("B08",),
)
async def generated_text(trial: Trial) -> None:
    """Every item shares six words in a row with something stored, for a person to review.

    Of a system that rewrites what it stores, one invented word is enough.
    """
    user, topic = trial.ns.user(), trial.ns.topic(4)
    await trial.add(user, *(marker.text for marker in topic.markers))
    stored = {run for marker in topic.markers for run in runs_of_words(marker.text)}
    invented = {squeeze(word) for marker in topic.markers for word in (*marker.words, *topic.about)}
    verbatim = Capability.VERBATIM in trial.run.capabilities
    for query in (topic.query, topic.markers[0].query):
        exchange = await trial.search_exchange(user, query)
        for item in trial.items(exchange):
            shown = f"with anything stored: {item.content[:80]!r}"
            trial.require(
                any(word in squeeze(item.content) for word in invented),
                f"a result shares no invented word {shown}",
                exchange,
            )
            trial.require(
                not verbatim or not stored.isdisjoint(runs_of_words(item.content)),
                f"a result shares no {RUN} words in a row {shown}",
                exchange,
            )


@rule(
    "evidence/oversized-item",
    level=Level.MAY,
    clauses=("S14",),
    title="No result takes the whole of what the answer model reads.",
    why="The answer model reads 117,760 tokens; an item above that is cut, the rest unread.",
    fix="Return messages or passages, not whole sessions.",
    cost=Cost(adds=1, searches=1),
    modes=(69,),
    quick=False,
)
async def oversized_item(trial: Trial) -> None:
    """One session above the budget; each of its results is counted in o200k tokens.

    Rare Chinese characters take two tokens each, so that one chunk is enough.
    """
    user, topic = trial.ns.user(), trial.ns.topic(20)
    rare = "".join(trial.ns.cjk_marker().text for _ in range(8_000 // 25))
    await trial.add(user, *(f"{m.text} {rare}"[:8_000] for m in topic.markers))
    exchange = await trial.search_exchange(user, topic.query)
    items = trial.items(exchange)
    if not items:
        raise NotTested("nothing is found (see visibility/immediate)", exchange)
    sizes = [len(encode(item.content)) for item in items]
    trial.note(f"first item {sizes[0]:,} tokens, all {len(items)} items {sum(sizes):,}")
    for position, size in enumerate(sizes, start=1):
        trial.require(
            size <= ANSWER_BUDGET,
            f"result {position} alone has {size:,} tokens; the answer model reads "
            f"{ANSWER_BUDGET:,} of all results together",
            exchange,
        )


def runs_of_words(text: str) -> set[tuple[str, ...]]:
    """Every run of ``RUN`` words, case and punctuation aside; of fewer words, all of them."""
    words = re.findall(r"\w+", text.casefold())
    return {tuple(words[at : at + RUN]) for at in range(max(1, len(words) - RUN + 1))}
