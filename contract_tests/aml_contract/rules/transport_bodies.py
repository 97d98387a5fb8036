"""Request bodies as they travel: in pieces, chunked, packed, in other encodings (A4, E1, F3)."""

from __future__ import annotations

import gzip

from aml_contract.body import dump
from aml_contract.exchange import Exchange
from aml_contract.namespace import Marker
from aml_contract.outcome import Level
from aml_contract.rule import Capability, Cost, rule
from aml_contract.techniques.steps import attempt, crashed, planted, refused, see_working
from aml_contract.trial import Trial

GAP = 0.05
"""Seconds between the segments of a body that arrives in pieces."""
CONTINUE = 1.0
"""Seconds a client waits for 100 Continue before it sends the body anyway."""


@rule(
    "transport/split-body",
    level=Level.SHOULD,
    clauses=("A4",),
    title="A body that arrives in several segments is read to its end.",
    why="Networks cut bodies anywhere; a single read sees the first segment only.",
    fix="Read Content-Length bytes, however many reads it takes.",
    cost=Cost(adds=2, searches=2),
    peers=("P131",),
    transport="raw",
)
async def split_body(trial: Trial) -> None:
    """An Add in four segments, shortly one after the other."""
    user = trial.ns.user()
    await planted(trial, user)
    marker = trial.ns.marker()
    body = dump(trial.add_body(user, marker.text))
    async with trial.raw("add") as connection:
        made = await connection.send("add", body, pieces=4, gap=GAP)
    trial.require(
        made.status == 200,
        f"an Add whose body came in four segments was answered {made.summary}",
        made,
    )
    trial.require(
        bool(await trial.find(user, marker)),
        "an Add whose body came in four segments was acknowledged and is not found",
        made,
        trial.last_exchange_of("search"),
    )


@rule(
    "transport/chunked",
    level=Level.MAY,
    clauses=("E1",),
    title="A chunked request body is read.",
    why="Streaming clients and some proxies send no Content-Length.",
    fix="Serve with an HTTP server that decodes Transfer-Encoding: chunked.",
    cost=Cost(adds=1, searches=2),
    peers=("P131",),
    transport="raw",
)
async def chunked(trial: Trial) -> None:
    """A Search in three chunks."""
    user = trial.ns.user()
    marker = await planted(trial, user)
    body = dump(trial.search_body(user, marker.query))
    async with trial.raw("search") as connection:
        headers = [h for h in connection.plain_headers(body) if h[0] != "Content-Length"]
        headers.append(("Transfer-Encoding", "chunked"))
        made = await connection.send("search", body, headers=headers, pieces=3)
    trial.require(
        made.status == 200, f"a Search with a chunked body was answered {made.summary}", made
    )


@rule(
    "transport/expect-continue",
    level=Level.MAY,
    clauses=("E1",),
    title="Expect: 100-continue is answered.",
    why="curl and Java clients ask before they send a large body.",
    fix="Serve with an HTTP server that sends 100 Continue, or ignores the header.",
    cost=Cost(adds=1, searches=2),
    peers=("P131",),
    transport="raw",
)
async def expect_continue(trial: Trial) -> None:
    """The body follows after a second even if no 100 came."""
    user = trial.ns.user()
    marker = await planted(trial, user)
    body = dump(trial.search_body(user, marker.query))
    async with trial.raw("search") as connection:
        headers = [*connection.plain_headers(body), ("Expect", "100-continue")]
        wait = CONTINUE * trial.run.patience
        made = await connection.send("search", body, headers=headers, await_continue=wait)
    trial.require(
        made.status == 200,
        f"a Search with Expect: 100-continue was answered {made.summary}",
        made,
    )


@rule(
    "transport/gzip-body",
    level=Level.SHOULD,
    clauses=("F3", "A11", "A12"),
    title="A gzipped body is read or refused, never a server error and never lost.",
    why="A proxy or client that packs bodies meets a 5xx that is sent again 32 times, or a 200 "
    "for a chunk that nobody unpacked.",
    fix="Unpack Content-Encoding: gzip within your body limit, or answer 415.",
    cost=Cost(adds=2, searches=2),
    peers=("P131",),
)
async def gzip_body(trial: Trial) -> None:
    """An Add as gzip; either reading passes, what was acknowledged must be there."""
    user = trial.ns.user()
    await planted(trial, user)
    marker = trial.ns.marker()
    body = gzip.compress(dump(trial.add_body(user, marker.text)))
    how = {"content-encoding": "gzip"}
    await _read_or_refused(trial, "an Add packed with gzip", user, marker, body, how)


@rule(
    "transport/other-charsets",
    level=Level.SHOULD,
    clauses=("F3", "A10", "A11"),
    title="A byte order mark or another charset is read or refused, never an error, never garbled.",
    why="Clients on Windows write a byte order mark, old ones Latin-1; a 5xx is sent again 32 "
    "times, and text read in the wrong charset is other evidence.",
    fix="Read JSON as UTF-8 only; skip a byte order mark, and answer 400 or 415 to the rest.",
    cost=Cost(adds=5, searches=9),
    peers=("P130", "P133"),
)
async def other_charsets(trial: Trial) -> None:
    """A byte order mark, UTF-16, UTF-32 and Latin-1, each with its charset in the content type."""
    user = trial.ns.user()
    await planted(trial, user)
    for name, codec, charset in (
        ("that begins with a byte order mark", "utf-8-sig", "utf-8"),
        ("in UTF-16", "utf-16", "utf-16"),
        ("in UTF-32", "utf-32", "utf-32"),
        ("in Latin-1", "latin-1", "iso-8859-1"),
    ):
        marker = trial.ns.marker()
        sent = f"{marker.text} déjà vu in Zürich"
        body = dump(trial.add_body(user, sent)).decode().encode(codec)
        how = {"content-type": f"application/json; charset={charset}"}
        made = await _read_or_refused(trial, f"an Add {name}", user, marker, body, how)
        if made.status != 200 or Capability.VERBATIM not in trial.run.capabilities:
            continue
        items = await trial.search(user, marker.query)
        if not any(sent in item.content for item in items):
            found = trial.last_exchange_of("search")
            trial.warn(f"an Add {name} was acknowledged, and its text comes back garbled", found)


async def _read_or_refused(  # noqa: PLR0913, PLR0917  what is sent, and its name
    trial: Trial, what: str, user: str, marker: Marker, body: bytes, how: dict[str, str]
) -> Exchange:
    """Send the Add; it may be refused for good, or be stored.

    Raises:
        Violation: a server error, or a success whose text is not found.
    """
    made = await attempt(trial, "add", body, headers=how)
    if crashed(made):
        await see_working(trial, "add")
        trial.fail(f"{what} was answered {made.summary}, which the platform sends again", made)
    if refused(made):
        trial.note(f"{what}: refused with {made.status}")
    elif made.status == 200:
        trial.require(
            bool(await trial.find(user, marker)),
            f"{what} was acknowledged, and its text is not found",
            made,
            trial.last_exchange_of("search"),
        )
    return made
