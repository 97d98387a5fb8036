"""``input/*``: what real requests hold that careless validation refuses (clauses A4 to A9).

Where readers of the contract disagree, a refusal is a warning: the risk is named. What is
accepted must be kept, and nothing may be a server error.
"""

from __future__ import annotations

from aml_contract.finding import NotTested
from aml_contract.namespace import Marker
from aml_contract.outcome import Level
from aml_contract.rule import Cost, rule
from aml_contract.techniques.steps import Tolerance, attempt, crashed, planted, refused
from aml_contract.trial import Trial

LOST = "a refusal is final, and what was refused is lost"


@rule(
    "input/unknown-keys",
    level=Level.SHOULD,
    clauses=("A8",),
    title="Unknown keys are ignored, in Add, in messages and in Search.",
    why="A needless 422 ends a run; a needless 200 costs nothing.",
    fix="Ignore extra fields instead of forbidding them.",
    cost=Cost(adds=3, searches=4),
    modes=(4,),
    peers=("P28", "P29", "P30"),
    cases=("B36",),
)
async def unknown_keys(trial: Trial) -> None:
    """One unknown key at each level."""
    user = trial.ns.user()
    known = await planted(trial, user)
    tolerance = Tolerance(trial, LOST)
    for what, extra in (
        ("an Add with an unknown key", {"colour": "green"}),
        ("a message with an unknown key", None),
    ):
        marker = trial.ns.marker()
        message = {"role": "user", "content": marker.text} | ({} if extra else {"mood": 1})
        body = trial.add_body(user, message) | (extra or {})
        if await tolerance.of("add", body, what):
            await must_be_found(trial, user, marker, what)
    body = trial.search_body(user, known.query) | {"colour": "green"}
    await tolerance.of("search", body, "a Search with an unknown key")
    tolerance.report()


@rule(
    "input/roles",
    level=Level.SHOULD,
    clauses=("A5",),
    title="Any role is accepted, not only user and assistant.",
    why="No closed set is published; data sets hold system, tool and people's names.",
    fix="Take role as an opaque, non-empty string.",
    cost=Cost(adds=5, searches=5),
    modes=(9,),
    peers=("P26", "P27", "P34"),
)
async def roles(trial: Trial) -> None:
    """The usual second role, two of other protocols, and a name."""
    user = trial.ns.user()
    await planted(trial, user)
    tolerance = Tolerance(trial, LOST)
    for role in ("assistant", "system", "tool", "Léa Müller"):
        marker = trial.ns.marker()
        body = trial.add_body(user, {"role": role, "content": marker.text})
        what = f"a message with role {role!r}"
        if await tolerance.of("add", body, what):
            await must_be_found(trial, user, marker, what)
    tolerance.report()


@rule(
    "input/text-parts",
    level=Level.SHOULD,
    clauses=("A6", "S7"),
    title="Content may be a list of text parts, and is found.",
    why="By one reading the Coding track sends parts; dropping them loses the text.",
    fix="Join the text of text parts by newlines and treat it as the content.",
    cost=Cost(adds=2, searches=3),
    modes=(10,),
    cases=("B17",),
)
async def text_parts(trial: Trial) -> None:
    """Two text parts; the text of both must be found."""
    user = trial.ns.user()
    await planted(trial, user)
    first, second = trial.ns.marker(), trial.ns.marker()
    parts = [{"type": "text", "text": marker.text} for marker in (first, second)]
    body = trial.add_body(user, {"role": "user", "content": parts})
    what = "a message of text parts"
    tolerance = Tolerance(trial, LOST)
    if await tolerance.of("add", body, what):
        await must_be_found(trial, user, first, what)
        await must_be_found(trial, user, second, what)
    tolerance.report()


@rule(
    "input/blank-turn",
    level=Level.SHOULD,
    clauses=("A9",),
    title="A blank turn does not spoil its chunk.",
    why="Real chunks hold blank turns; one entrant lost a fifth of its writes to refusing them.",
    fix="Skip blank turns and store the rest.",
    cost=Cost(adds=5, searches=5),
    modes=(1,),
    peers=("P99", "P100"),
    cases=("B18",),
)
async def blank_turn(trial: Trial) -> None:
    """Empty, spaces, line breaks and an ideographic space, each beside an ordinary turn."""
    user = trial.ns.user()
    await planted(trial, user)
    tolerance = Tolerance(trial, LOST)
    for blank in ("", "   ", "\n\t", "\u3000"):
        marker = trial.ns.marker()
        what = f"a chunk with the blank turn {blank!r}"
        if await tolerance.of("add", trial.add_body(user, blank, marker.text), what):
            await must_be_found(trial, user, marker, what)
    tolerance.report()


@rule(
    "input/blank-chunk",
    level=Level.MUST,
    clauses=("A9", "S7", "S10"),
    title="A chunk of blank turns leaves nothing blank behind.",
    why="An item without content is a contract error in every later Search of that user.",
    fix="Store no blank turns; answer 200, or 422.",
    cost=Cost(adds=2, searches=3),
    modes=(60,),
    peers=("P99",),
    cases=("B18",),
)
async def blank_chunk(trial: Trial) -> None:
    """Three blank turns alone; later Searches of the user hold no blank item."""
    user = trial.ns.user()
    marker = await planted(trial, user)
    made = await attempt(trial, "add", trial.add_body(user, " ", "\n", ""))
    if crashed(made):
        trial.warn(f"a chunk of blank turns was answered {made.summary}, which is sent again", made)
    for query in (marker.query, "anything about me"):
        exchange = await trial.search_exchange(user, query)
        for item in trial.items(exchange):
            parts = isinstance(item.raw.get("content"), list)
            trial.require(
                parts or bool(item.content.strip()),
                "after a chunk of blank turns, a result has no content",
                made,
                exchange,
            )


@rule(
    "input/query-syntax",
    level=Level.SHOULD,
    clauses=("S1", "F3"),
    title="Quotes, operators and punctuation in a query are text.",
    why="Questions hold apostrophes, brackets and the word AND; full-text engines choke on them.",
    fix="Quote every term before it reaches a query language.",
    cost=Cost(adds=1, searches=20),
    modes=(51,),
    cases=("B22",),
)
async def query_syntax(trial: Trial) -> None:
    """Each piece of syntax before a question that must still find its message."""
    user = trial.ns.user()
    marker = await planted(trial, user)
    broke, blind = [], []
    pieces = (
        '"', "'", "doesn't ", '"Elm" AND (café OR ', "NEAR(", "NOT ", "* ", "a* ", "(", ")", "^",
        "content:", "{}[]~", "pre-edit GB/s, 20.04 * ", "%_", "\\", "; DROP TABLE memories; --",
        "<script>",
    )  # fmt: skip
    for piece in pieces:
        body = trial.search_body(user, piece + marker.query)
        made = await attempt(trial, "search", body, attempts=2)
        if made.status != 200:
            broke.append((piece, made))
        elif not trial.showing(trial.items(made), marker):
            blind.append((piece, made))
    if blind:
        names = "  ".join(piece.strip() for piece, _ in blind)
        trial.warn(f"a question no longer finds its message behind: {names}", blind[0][1])
    if broke:
        names = "  ".join(f"{piece.strip()} ({made.summary})" for piece, made in broke)
        trial.fail(f"no answer to a query that begins with: {names}", broke[0][1])


@rule(
    "input/punctuation-query",
    level=Level.MAY,
    clauses=("S1", "S11"),
    title="A query of punctuation or stop words is answered.",
    why="A tokenizer that leaves nothing must end in an empty list, not in an error.",
    fix="Answer the empty list when no term is left.",
    cost=Cost(adds=1, searches=5),
    modes=(54,),
)
async def punctuation_query(trial: Trial) -> None:
    """What comes back is not judged, only that something does."""
    user = trial.ns.user()
    await planted(trial, user)
    for query in ("?", "...", "the of and", "🙂"):
        made = await attempt(trial, "search", trial.search_body(user, query))
        trial.require(made.status == 200, f"the query {query!r} was answered {made.summary}", made)


@rule(
    "input/blank-query",
    level=Level.SHOULD,
    clauses=("S1", "F3"),
    title="A blank query is refused or answered, never a server error.",
    why="A 5xx is sent again; a dump of everything hides the caller's mistake.",
    fix='Answer 422, or {"data": []}.',
    cost=Cost(adds=1, searches=3),
    peers=("P108",),
    cases=("B23",),
)
async def blank_query(trial: Trial) -> None:
    """Empty and of spaces; a dump of what is stored is a warning."""
    user = trial.ns.user()
    marker = await planted(trial, user)
    for query in ("", "   "):
        made = await attempt(trial, "search", trial.search_body(user, query))
        trial.require(not crashed(made), f"the query {query!r} was answered {made.summary}", made)
        if made.status == 200 and trial.showing(trial.items(made), marker):
            trial.warn(f"the query {query!r} brings what is stored, as if it had matched", made)


@rule(
    "input/null-optional",
    level=Level.MAY,
    clauses=("A7", "S2"),
    title="An optional field of null counts as absent.",
    why="Many serialisers write null for what is not set; a refusal loses the chunk.",
    fix="Accept null for timestamp and options.",
    cost=Cost(adds=2, searches=2),
)
async def null_optional(trial: Trial) -> None:
    """``timestamp`` and ``options``."""
    user = trial.ns.user()
    known = await planted(trial, user)
    marker = trial.ns.marker()
    message = {"role": "user", "content": marker.text, "timestamp": None}
    tolerance = Tolerance(trial, LOST)
    await tolerance.of("add", trial.add_body(user, message), "a message with timestamp null")
    body = trial.search_body(user, known.query) | {"options": None}
    await tolerance.of("search", body, "a Search with options null")
    tolerance.report()


@rule(
    "input/batch-atomic",
    level=Level.MUST,
    clauses=("A14",),
    title="A refused chunk stores none of its messages.",
    why="The refused request is never completed: half of a chunk stays behind as evidence.",
    fix="Validate the whole request before writing, and write it in one transaction.",
    cost=Cost(adds=5, searches=9),
    peers=("P113", "P114"),
    cases=("B17",),
)
async def batch_atomic(trial: Trial) -> None:
    """Good messages around one that is invalid in several ways."""
    user = trial.ns.user()
    await planted(trial, user)
    judged = 0
    for name, wrong in (
        ("without a role", {"content": "no role"}),
        ("whose content is a number", {"role": "user", "content": 7}),
        ("whose content is null", {"role": "user", "content": None}),
        ("that is a text instead of an object", "no object"),
    ):
        before, after = trial.ns.marker(), trial.ns.marker()
        body = trial.add_body(user, before.text)
        body["messages"] += [wrong, {"role": "user", "content": after.text}]
        made = await attempt(trial, "add", body, attempts=2)
        if not refused(made):
            continue
        judged += 1
        for marker in (before, after):
            trial.require(
                not await trial.find(user, marker),
                f"a chunk with a message {name} was refused with {made.status}, yet another "
                "of its messages is found",
                made,
                trial.last_exchange_of("search"),
            )
    if not judged:
        raise NotTested("no chunk with an invalid message was refused (see errors/invalid-fields)")


async def must_be_found(trial: Trial, user: str, marker: Marker, what: str) -> None:
    """What was acknowledged is there.

    Raises:
        Violation: it is not.
    """
    found = await trial.find(user, marker)
    trial.require(
        bool(found),
        f"{what} was acknowledged, and its text is not found",
        trial.last_exchange_of("add"),
        trial.last_exchange_of("search"),
    )
