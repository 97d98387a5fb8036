"""``auth/*``: keys (clauses K1 to K3). They apply where a key scheme was given.

Wrong keys are made from the right one without ever showing it: an exchange keeps no key,
and nothing that resembles one.
"""

from __future__ import annotations

from collections.abc import Iterator

from aml_contract.body import dump
from aml_contract.endpoint.auth import Scheme, key_header
from aml_contract.exchange import Exchange
from aml_contract.outcome import Level
from aml_contract.rule import Capability, Cost, rule
from aml_contract.techniques.keys import invented, under_scheme
from aml_contract.techniques.steps import attempt, crashed, planted, valid_pair
from aml_contract.trial import Trial

KEYED = frozenset({Capability.AUTH})
DENIED = frozenset({401, 403})
TELLING = 8
"""Characters of the shortest key whose presence in a text is no coincidence."""


@rule(
    "auth/missing-key",
    level=Level.MUST,
    clauses=("K2",),
    title="Add and Search without a key are answered 401 or 403.",
    why="An unset variable that switches authentication off opens the store to everyone.",
    fix="Refuse to start without a key; check it on every path but health.",
    cost=Cost(adds=1, searches=1),
    capabilities=KEYED,
    modes=(88,),
    peers=("P121", "P129"),
)
async def missing_key(trial: Trial) -> None:
    """No header at all."""
    for operation, body in valid_pair(trial):
        made = await attempt(trial, operation, body, auth={})
        denied(trial, made, "without a key")


@rule(
    "auth/wrong-key",
    level=Level.MUST,
    clauses=("K2",),
    title="Add and Search with a wrong key are answered 401 or 403.",
    why="A key that is only looked for, and not compared, is no key.",
    fix="Compare the whole key in constant time.",
    cost=Cost(adds=1, searches=1),
    capabilities=KEYED,
    modes=(88,),
    peers=("P122",),
)
async def wrong_key(trial: Trial) -> None:
    """An invented key under the configured scheme."""
    for operation, body in valid_pair(trial):
        made = await attempt(trial, operation, body, auth=under_scheme(trial, invented(trial)))
        denied(trial, made, "with a wrong key")


@rule(
    "auth/key-variants",
    level=Level.MUST,
    clauses=("K2",),
    title="What merely resembles the key is refused.",
    why="Prefix and case-folding comparisons let a guesser in piece by piece.",
    fix="Compare the whole key, byte for byte, in constant time.",
    cost=Cost(searches=7),
    capabilities=KEYED,
    modes=(88,),
    peers=("P126",),
)
async def key_variants(trial: Trial) -> None:
    """Prefix, suffix, longer, other case, empty, twice; a non-ASCII key may not crash it."""
    (_, _), (operation, body) = valid_pair(trial)
    for name, key in variants(trial.endpoint.auth.key):
        made = await attempt(trial, operation, body, auth=under_scheme(trial, key), attempts=2)
        denied(trial, made, f"with {name}")


@rule(
    "auth/other-scheme",
    level=Level.MAY,
    clauses=("K1", "K2"),
    title="The right key under another scheme is accepted or refused, never a server error.",
    why="The platform is bound to one scheme at registration; the others are a reading.",
    fix="Accept all three headers, or answer 401.",
    cost=Cost(searches=2),
    capabilities=KEYED,
    modes=(87,),
    peers=("P123", "P124", "P125"),
)
async def other_scheme(trial: Trial) -> None:
    """Both answers are fine and are noted."""
    (_, _), (operation, body) = valid_pair(trial)
    auth = trial.endpoint.auth
    for scheme in (Scheme.BEARER, Scheme.TOKEN, Scheme.X_API_KEY):
        if scheme is auth.scheme:
            continue
        made = await attempt(trial, operation, body, auth=key_header(scheme, auth.key), attempts=2)
        trial.require(
            not crashed(made), f"the right key as {scheme} was answered {made.summary}", made
        )
        trial.note(f"the right key as {scheme}: {made.summary}")


@rule(
    "auth/key-before-body",
    level=Level.SHOULD,
    clauses=("K2",),
    title="The key is checked before the body.",
    why="Validation answers tell a stranger the interface, and cost work for nothing.",
    fix="Check the key in middleware, before parsing.",
    cost=Cost(adds=3),
    capabilities=KEYED,
    peers=("P128",),
)
async def key_before_body(trial: Trial) -> None:
    """Malformed, empty and invalid bodies without a key and with a wrong one."""
    (operation, body), _ = valid_pair(trial)
    for name, wrong, auth in (
        ("malformed JSON without a key", dump(body)[:-2], {}),
        ("an empty object without a key", b"{}", {}),
        ("malformed JSON with a wrong key", b"{", under_scheme(trial, invented(trial))),
    ):
        made = await attempt(trial, operation, wrong, auth=auth, attempts=2)
        trial.require(
            made.status in DENIED,
            f"{name} was answered {made.summary}: the body was judged before the key",
            made,
        )


@rule(
    "auth/no-key-in-answers",
    level=Level.MUST,
    clauses=("K3", "F4"),
    title="No answer repeats a key.",
    why="Error bodies end in logs and reports; a key in one is a key lost.",
    fix="Never put request headers into an error.",
    cost=Cost(adds=3, searches=2, others=1),
    capabilities=KEYED,
    modes=(94,),
    peers=("P15", "P119"),
)
async def no_key_in_answers(trial: Trial) -> None:
    """Errors under the right key and under one that the right key begins; health too."""
    key = trial.endpoint.auth.key
    (add, body), (search, question) = valid_pair(trial)
    other = invented(trial)
    elsewhere = await trial.send(add, b"{", auth=under_scheme(trial, other))
    if len(key) < TELLING or holds(elsewhere, key):
        trial.note("the key is too short or too common to be looked for in answers")
        return
    if holds(elsewhere, other):
        trial.warn("an error repeats the wrong key that was sent", elsewhere)
    for made in (
        await trial.send(add, b"{"),
        await trial.send(search, question | {"top_k": "many"}),
        await trial.send(add, body, auth=under_scheme(trial, key + "x")),
        await trial.send(search, question, auth=under_scheme(trial, key + "x")),
        await trial.health(),
    ):
        trial.require(not holds(made, key), f"the answer {made.summary} repeats the key", made)


@rule(
    "auth/nothing-stored",
    level=Level.MUST,
    clauses=("K2", "A14"),
    title="An Add that was refused for its key stores nothing.",
    why="Anyone could write into anyone's memory.",
    fix="Check the key before the handler runs.",
    cost=Cost(adds=3, searches=4),
    capabilities=KEYED,
    modes=(88,),
    peers=("P113",),
)
async def nothing_stored(trial: Trial) -> None:
    """Without a key and with a wrong one, for a user who has other memories."""
    user = trial.ns.user()
    await planted(trial, user)
    for name, auth in (
        ("without a key", {}),
        ("with a wrong key", under_scheme(trial, invented(trial))),
    ):
        marker = trial.ns.marker()
        made = await attempt(trial, "add", trial.add_body(user, marker.text), auth=auth)
        if made.status not in DENIED:
            continue
        trial.require(
            not await trial.find(user, marker),
            f"an Add {name} was answered {made.status}, yet its message is found",
            made,
            trial.last_exchange_of("search"),
        )


def denied(trial: Trial, made: Exchange, how: str) -> None:
    """401 or 403; anything but success is a warning, success a violation."""
    name = made.operation.capitalize()
    if made.status in DENIED:
        return
    if made.status is not None and made.status < 400:
        trial.fail(f"{name} {how} was answered {made.status}, not 401 or 403", made)
    trial.warn(f"{name} {how} was answered {made.summary}; 401 or 403 says what is wrong", made)


def variants(key: str) -> Iterator[tuple[str, str]]:
    """Keys that are not ``key`` though a careless comparison takes them for it."""
    yield "all but the last character of the key", key[:-1]
    yield "all but the first character of the key", key[1:]
    yield "the key and one more character", key + "x"
    yield "the key twice", key + key
    if key.swapcase() != key:
        yield "the key in other case", key.swapcase()
    if len(key) > 1:
        yield "an empty key", ""
    yield "a key that is not ASCII", "schlüssel-钥匙"


def holds(made: Exchange, key: str) -> bool:
    """Whether the answer's body or headers hold the key."""
    text = made.reply.decode(errors="replace") + "\n".join(made.reply_headers.values())
    return key in text
