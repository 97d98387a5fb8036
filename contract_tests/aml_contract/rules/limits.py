"""``limits/*``: ``top_k``, and the sizes that real requests reach (clauses S3, S10, A4)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from aml_contract.body import dump
from aml_contract.finding import NotTested
from aml_contract.outcome import Level
from aml_contract.rule import Cost, rule
from aml_contract.techniques.steps import attempt, crashed, data_of, in_pieces, planted, refused
from aml_contract.trial import Trial

CHUNK = 20
"""Messages of the platform's largest chunk."""
LONGEST = 8_000
"""Characters of the platform's longest message."""
BODY = 3 * 2**19
"""Bytes (1.5 MiB) of an Add that every track must take."""
FEW = 12
"""Items that never grow past this, whatever is asked, look like a hidden cap."""


@rule(
    "limits/top-k",
    level=Level.MUST,
    clauses=("S10", "S3"),
    title="Search returns at most top_k items.",
    why="One item more than top_k is a contract error that ends the run.",
    fix="Cut the final list to top_k, after windows, anchors, merges and rerankers.",
    cost=Cost(adds=2, searches=6),
    modes=(47, 48),
    peers=("P72", "P74"),
    cases=("B27",),
)
async def top_k(trial: Trial) -> None:
    """Small ``top_k`` on one long session: a broad query, and one that hits its middle."""
    user, session, topic = trial.ns.user(), trial.ns.session(), trial.ns.topic(40)
    for markers in (topic.markers[:CHUNK], topic.markers[CHUNK:]):
        await trial.add(user, *(marker.text for marker in markers), session=session)
    found = 0
    for query in (topic.query, topic.markers[CHUNK].text):
        for asked in (1, 2, 7):
            exchange = await trial.search_exchange(user, query, top_k=asked)
            got = len(data_of(trial, exchange))
            trial.require(got <= asked, f"top_k was {asked}, and {got} items came back", exchange)
            found += got
    if not found:
        raise NotTested("no Search returned anything (see visibility/immediate)")


@rule(
    "limits/hidden-cap",
    level=Level.MAY,
    clauses=("S3", "S13"),
    title="A top_k of 100 can bring many items.",
    why="Formal runs ask for 100 items; a cap far below wastes the evidence budget.",
    fix="Pass top_k through to every stage of retrieval instead of a constant.",
    cost=Cost(adds=2, searches=3),
    peers=("P73",),
    cases=("B27",),
)
async def hidden_cap(trial: Trial) -> None:
    """Forty messages share the query's words; how many of them come back?"""
    user, topic = trial.ns.user(), trial.ns.topic(40)
    for markers in (topic.markers[:CHUNK], topic.markers[CHUNK:]):
        await trial.add(user, *(marker.text for marker in markers))
    counts, most, exchanges = set(), 0, []
    for query in (topic.query, topic.markers[3].text, topic.markers[30].text):
        exchange = await trial.search_exchange(user, query, top_k=100)
        items = trial.items(exchange)
        counts.add(len(items))
        most = max(most, sum(bool(trial.showing(items, m)) for m in topic.markers))
        exchanges.append(exchange)
    if counts == {0}:
        raise NotTested("no Search returned anything (see visibility/immediate)")
    capped = len(counts) == 1 and max(counts) <= FEW and most < len(topic.markers)
    trial.require(
        not capped,
        f"top_k was 100 and 40 stored messages share the query's words, yet exactly "
        f"{max(counts)} items came back, whatever was asked",
        exchanges[0],
    )


@rule(
    "limits/top-k-large",
    level=Level.MAY,
    clauses=("S3",),
    title="A top_k above 100 is accepted.",
    why="Formal runs send 100, but nothing says that no other number will ever come.",
    fix="Accept at least 1,000 and return what there is.",
    cost=Cost(adds=1, searches=3),
    modes=(49,),
    peers=("P81", "P82"),
)
async def top_k_large(trial: Trial) -> None:
    """101 and 1,000; refusing them is a reading, and reported."""
    user = trial.ns.user()
    marker = await planted(trial, user)
    for asked in (101, 1000):
        made = await attempt(trial, "search", trial.search_body(user, marker.query, asked))
        trial.require(made.status == 200, f"top_k {asked} was answered {made.summary}", made)


@rule(
    "limits/top-k-float",
    level=Level.MAY,
    clauses=("S3",),
    title="A top_k of 87.0 is a whole number and accepted.",
    why="JSON has one kind of number; some clients write 87 as 87.0.",
    fix="Accept numbers without a fractional part, whatever their spelling.",
    cost=Cost(adds=1, searches=2),
    modes=(),
)
async def top_k_float(trial: Trial) -> None:
    """The same Search with ``87.0``."""
    user = trial.ns.user()
    marker = await planted(trial, user)
    body = {**trial.search_body(user, marker.query), "top_k": 87.0}
    made = await attempt(trial, "search", body)
    trial.require(made.status == 200, f"top_k 87.0 was answered {made.summary}", made)


@rule(
    "limits/top-k-invalid",
    level=Level.SHOULD,
    clauses=("S3", "F3"),
    title="A top_k that is no positive whole number is refused with a 4xx.",
    why="A 5xx is sent again up to 6 times; a guess hides the caller's mistake.",
    fix="Validate top_k strictly: a JSON number, whole, at least 1; answer 422 otherwise.",
    cost=Cost(adds=1, searches=9),
    modes=(50,),
    peers=("P75", "P76", "P77", "P78", "P79", "P80"),
)
async def top_k_invalid(trial: Trial) -> None:
    """Each invalid value in turn: a 5xx is a finding, leniency a warning."""
    user = trial.ns.user()
    marker = await planted(trial, user)
    body = trial.search_body(user, marker.query)
    absent = {key: value for key, value in body.items() if key != "top_k"}
    tries: list[tuple[str, Mapping[str, Any]]] = [("missing", absent)]
    for spelled, value in {
        "0": 0, "-1": -1, "1.5": 1.5, '"5"': "5", "true": True, "null": None, "[5]": [5]
    }.items():  # fmt: skip
        tries.append((spelled, {**body, "top_k": value}))
    broke, lenient = [], []
    for spelled, wrong in tries:
        made = await attempt(trial, "search", wrong, attempts=2, fresh=True)
        if crashed(made):
            broke.append((spelled, made))
        elif not refused(made):
            lenient.append((spelled, made))
    if lenient:
        names = ", ".join(spelled for spelled, _ in lenient)
        trial.warn(f"top_k {names}: accepted as if valid", lenient[0][1])
    if broke:
        names = ", ".join(f"{spelled} ({made.summary})" for spelled, made in broke)
        trial.fail(f"a server error instead of a 4xx for top_k {names}", broke[0][1])


@rule(
    "limits/message-counts",
    level=Level.SHOULD,
    clauses=("A4", "A12"),
    title="Chunks of one message, of 20 messages and of one character are stored whole.",
    why="The platform cuts sessions at 20 messages, and short replies are a word or a letter.",
    fix="Drop limits and loops that assume a typical chunk; count from 1 to at least 20.",
    cost=Cost(adds=4, searches=4),
    modes=(19,),
)
async def message_counts(trial: Trial) -> None:
    """The boundary sizes; of the full chunk its first, middle and last message."""
    user = trial.ns.user()
    await planted(trial, user)
    for text in ("k", "好"):
        made = await attempt(trial, "add", trial.add_body(user, text))
        trial.require(
            made.status == 200,
            f"an Add of one message of one character was answered {made.summary}",
            made,
        )
    markers = [trial.ns.marker() for _ in range(CHUNK)]
    made = await attempt(trial, "add", trial.add_body(user, *(m.text for m in markers)))
    trial.require(
        made.status == 200, f"an Add of exactly {CHUNK} messages was answered {made.summary}", made
    )
    for position in (0, CHUNK // 2, CHUNK - 1):
        trial.require(
            bool(await trial.find(user, markers[position])),
            f"message {position + 1} of a chunk of {CHUNK} was acknowledged and is not found",
            made,
            trial.last_exchange_of("search"),
        )


@rule(
    "limits/heavy-chunk",
    level=Level.SHOULD,
    clauses=("A4", "A12"),
    title="A chunk of 20 messages of 8,000 characters is stored and found.",
    why="The platform cuts messages only near 8,000 characters; test data seldom gets there.",
    fix="Lift limits on text sizes and batch calls to the embedder by size.",
    cost=Cost(adds=2, searches=4),
    modes=(18, 32),
    peers=("P37",),
    quick=False,
)
async def heavy_chunk(trial: Trial) -> None:
    """160,000 characters in one Add; three of its messages are asked for."""
    user = trial.ns.user()
    await planted(trial, user)
    markers = [trial.ns.marker() for _ in range(CHUNK)]
    texts = [trial.ns.padded(marker, LONGEST) for marker in markers]
    made = await attempt(trial, "add", trial.add_body(user, *texts))
    trial.require(
        made.status == 200,
        f"an Add of {CHUNK} messages of {LONGEST} characters was answered {made.summary}",
        made,
    )
    for position in (0, CHUNK // 2, CHUNK - 1):
        items = await trial.search(user, markers[position].query)
        trial.require(
            in_pieces(trial, items, markers[position]),
            f"message {position + 1} of a chunk of {CHUNK} × {LONGEST} characters was "
            "acknowledged and its beginning is not found",
            trial.last_exchange_of("search"),
        )


@rule(
    "limits/long-message",
    level=Level.MAY,
    clauses=("A6", "A12"),
    title="A message of 30,000 characters spoils neither itself nor its neighbours.",
    why="The platform caps messages near 8,000 characters, other callers do not.",
    fix="Split long texts before embedding; refuse loudly what you cannot keep.",
    cost=Cost(adds=2, searches=4),
    cases=("B16",),
    quick=False,
)
async def long_message(trial: Trial) -> None:
    """A long message between two short ones; an explicit 4xx is a reading."""
    user = trial.ns.user()
    await planted(trial, user)
    before, inside, after = (trial.ns.marker() for _ in range(3))
    long = trial.ns.padded(trial.ns.marker(), 29_000) + " " + inside.text
    made = await attempt(trial, "add", trial.add_body(user, before.text, long, after.text))
    trial.require(
        made.status == 200, f"a message of 30,000 characters was answered {made.summary}", made
    )
    for name, marker in (
        ("the message before a long one", before),
        ("the end of a message of 30,000 characters", inside),
        ("the message after a long one", after),
    ):
        trial.require(
            in_pieces(trial, await trial.search(user, marker.query), marker),
            f"{name} was acknowledged and is not found",
            trial.last_exchange_of("search"),
        )


@rule(
    "limits/large-body",
    level=Level.SHOULD,
    clauses=("A4", "M1"),
    title="An Add of 1.5 MiB of JSON is accepted.",
    why="Escaped text of a full chunk passes 1 MiB, the default limit of many servers.",
    fix="Raise the body limit of the server and of every proxy before it (64 MiB is safe).",
    cost=Cost(adds=2, searches=2),
    modes=(13,),
    peers=("P133",),
)
async def large_body(trial: Trial) -> None:
    """An ordinary Add, padded with white space between its tokens.

    White space is the one filler that costs no embedding and that no reading forbids.
    """
    user = trial.ns.user()
    await planted(trial, user)
    marker = trial.ns.marker()
    body = dump(trial.add_body(user, marker.text))
    made = await attempt(trial, "add", b"{" + b" " * (BODY - len(body)) + body[1:])
    trial.require(made.status == 200, f"an Add of 1.5 MiB was answered {made.summary}", made)
    trial.require(
        bool(await trial.find(user, marker)),
        "an Add of 1.5 MiB was acknowledged and its message is not found",
        trial.last_exchange_of("search"),
    )


@rule(
    "limits/long-query",
    level=Level.SHOULD,
    clauses=("S1",),
    title="A query of 20,000 characters is answered and still finds what it names.",
    why="Some benchmarks put a whole passage into the question.",
    fix="Cut the query for the embedder instead of failing; cap the terms of a text query.",
    cost=Cost(adds=1, searches=2),
    modes=(52,),
)
async def long_query(trial: Trial) -> None:
    """One question said over and over, so that every way of matching can find it."""
    user = trial.ns.user()
    marker = await planted(trial, user)
    query = (marker.query + " ") * (20_000 // (len(marker.query) + 1) + 1)
    made = await attempt(trial, "search", trial.search_body(user, query[:20_000]))
    trial.require(
        made.status == 200, f"a query of 20,000 characters was answered {made.summary}", made
    )
    if not in_pieces(trial, trial.items(made), marker):
        trial.warn("a query of 20,000 characters finds nothing that its short form finds", made)
