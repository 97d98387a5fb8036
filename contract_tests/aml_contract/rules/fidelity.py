"""``fidelity/*``: text comes back as it was sent (clauses A10, T1).

Exactness is asked only of systems that store verbatim; frames around the text are fine.
"""

from __future__ import annotations

from aml_contract.finding import NotTested
from aml_contract.namespace import Marker
from aml_contract.outcome import Level
from aml_contract.rule import Capability, Cost, rule
from aml_contract.techniques.steps import attempt, crashed, in_pieces, planted
from aml_contract.trial import Trial

VERBATIM = frozenset({Capability.VERBATIM})

SAMPLES = {
    "Chinese, Japanese and Korean": "我把护照放在书房里。明日は水族館で待ち合わせ。치과 예약",
    "emoji": "👩🏽‍🚀 🏳️‍🌈 🇫🇷 1️⃣",
    "characters beyond the BMP": "𝔘𝔫𝔦𝔠𝔬𝔡𝔢 𠮷野家 𓀀",
    "combining marks": "Z̸̢͍̓a̷͙͝l̵g̴o नमस्ते क्षत्रिय",
    "composed and decomposed accents": "caf\u00e9 cafe\u0301 \u212b \u00c5 A\u030a",
    "compatibility characters": "ＡＢＣ１２３ ½ ﬁ ① ㎏",
    "right-to-left text and marks": "שלום עליכם \u200fمرحبا\u200e بكم",
    "zero-width characters": "zero\u200bwidth\u2060join\ufeffed soft\u00adhyphen",
    "markup and escapes": "5 < 6 && 7 > 3 &amp; <b>bold</b> \"q\" 's' \\n %20 {x} ${y} \\u0041",
}
"""Texts that careless storage folds, escapes or cuts."""

CODE = (
    "def settle(queue):\n"
    "    while queue:\n"
    "        item = queue.pop()\n"
    "\tif item is None:  # a tab, on purpose\n"
    "\n"
    "\n"
    "            return {'a':  1,\n"
    "                    'bc': 22}\n"
    "    return None\n"
    "```\n"
    "  * nested list\n"
    "```"
)


@rule(
    "fidelity/text",
    level=Level.SHOULD,
    clauses=("A10",),
    title="Text comes back code point for code point.",
    why="Folded, escaped or cut text is other evidence than what was said.",
    fix="Store the text beside anything derived from it; never normalise or escape it.",
    cost=Cost(adds=9, searches=9),
    capabilities=VERBATIM,
    peers=("P33", "P36"),
)
async def text(trial: Trial) -> None:
    """Each kind of text behind an ordinary sentence that finds it."""
    changed, seen, shown = [], 0, []
    for kind, sample in SAMPLES.items():
        user, marker = trial.ns.user(), trial.ns.marker()
        sent = f"{marker.text} {sample} {trial.ns.word()}"
        await trial.add(user, sent)
        items = await trial.find(user, marker)
        seen += bool(items)
        if items and not any(sent in item.content for item in items):
            changed.append(kind)
            shown.append(trial.last_exchange_of("search"))
    if not seen:
        raise NotTested("no stored message is found (see visibility/immediate)")
    trial.require(not changed, f"text with {', '.join(changed)} came back changed", *shown[:1])


@rule(
    "fidelity/code",
    level=Level.SHOULD,
    clauses=("T1", "A10"),
    title="Code comes back with its line breaks and indentation.",
    why="The Coding track stores sessions of code; without indentation it is other code.",
    fix="Do not strip, re-wrap or collapse white space of stored text.",
    cost=Cost(adds=1, searches=1),
    capabilities=VERBATIM,
    peers=("P35",),
)
async def code(trial: Trial) -> None:
    """A snippet with tabs, deep indentation, blank lines and fences."""
    marker = trial.ns.marker()
    await comes_back(
        trial,
        marker,
        f"# {marker.text}\n{CODE}",
        "code came back with other white space than it was sent with",
    )


@rule(
    "fidelity/inner-space",
    level=Level.SHOULD,
    clauses=("A10",),
    title="White space inside a text is kept.",
    why="Tables, verse and logs carry meaning in their spaces.",
    fix="Collapse white space for the index only, not for the text that is returned.",
    cost=Cost(adds=1, searches=1),
    capabilities=VERBATIM,
)
async def inner_space(trial: Trial) -> None:
    """Double spaces, tabs, line breaks, no-break and ideographic spaces."""
    marker = trial.ns.marker()
    sent = f"{marker.text} two  spaces\ttab\nline\r\nline\n\n\nblank no\u00a0break wide\u3000space"
    await comes_back(trial, marker, sent, "white space inside a text came back changed")


@rule(
    "fidelity/outer-space",
    level=Level.MAY,
    clauses=("A10",),
    title="White space around a text is kept.",
    why="Trimmed text joins wrongly where one message was cut into two.",
    fix="Return the text as it was stored.",
    cost=Cost(adds=1, searches=1),
    capabilities=VERBATIM,
    modes=(73,),
)
async def outer_space(trial: Trial) -> None:
    """A sentence between spaces and line breaks."""
    marker = trial.ns.marker()
    sent = f"  \t{marker.text} \n"
    await comes_back(trial, marker, sent, "white space around a text was trimmed")


@rule(
    "fidelity/long-text",
    level=Level.SHOULD,
    clauses=("A10", "A12"),
    title="A message of 8,000 characters is kept and found to its end.",
    why="Embedders read the first few hundred words; evidence behind them is lost silently.",
    fix="Split long texts into overlapping parts and index every part.",
    cost=Cost(adds=1, searches=3),
    peers=("P37",),
    cases=("B29",),
)
async def long_text(trial: Trial) -> None:
    """A sentence at the beginning, one in the middle, one at the end; parts may be joined."""
    user = trial.ns.user()
    head, middle, tail = (trial.ns.marker() for _ in range(3))
    half = (8_000 - len(head.text) - len(middle.text) - len(tail.text) - 4) // 2
    gaps = trial.ns.filler(half), trial.ns.filler(half)
    sent = " ".join((head.text, gaps[0], middle.text, gaps[1], tail.text))
    await trial.add(user, sent)
    if not in_pieces(trial, await trial.search(user, head.query), head):
        raise NotTested(
            "the beginning of a long message is not found (see visibility/immediate)",
            trial.last_exchange_of("search"),
        )
    for where, marker in (("middle", middle), ("end", tail)):
        trial.require(
            in_pieces(trial, await trial.search(user, marker.query), marker),
            f"the {where} of a message of {len(sent)} characters is in no returned content",
            trial.last_exchange_of("search"),
        )


@rule(
    "fidelity/control-characters",
    level=Level.SHOULD,
    clauses=("A10", "F3"),
    title="Control characters are stored or refused, never a server error.",
    why="Logs and scraped pages hold NUL and bell; a 5xx is sent again 32 times.",
    fix="Escape NUL for stores that cannot hold it, or answer 422.",
    cost=Cost(adds=4, searches=4),
    modes=(12,),
    cases=("B20",),
)
async def control_characters(trial: Trial) -> None:
    """NUL may be refused; bell and friends are ordinary text."""
    user = trial.ns.user()
    await planted(trial, user)
    for name, characters in (("NUL", "\0"), ("bell and escape", "\a\x1b\x7f\x85")):
        marker = trial.ns.marker()
        sent = f"{marker.text} left{characters}right"
        made = await attempt(trial, "add", trial.add_body(user, sent))
        trial.require(
            not crashed(made),
            f"a message with {name} was answered {made.summary}, which is sent again",
            made,
        )
        if made.status != 200:
            if name != "NUL":
                trial.warn(f"a message with {name} was refused with {made.status}", made)
            continue
        items = await trial.search(user, marker.query)
        found = trial.last_exchange_of("search")
        trial.require(
            bool(trial.showing(items, marker)),
            f"a message with {name} was acknowledged and is not found",
            made,
            found,
        )
        if Capability.VERBATIM in trial.run.capabilities and not any(
            sent in item.content for item in items
        ):
            trial.warn(f"{name} in a text came back changed", found)


@rule(
    "fidelity/surrogates",
    level=Level.SHOULD,
    clauses=("A10", "F3"),
    title="A lone surrogate is refused or replaced, never a server error.",
    why="Clients cut emoji in half; a 5xx for what can never succeed is sent again 32 times.",
    fix="Check texts with a UTF-8 encoder before storing them and answer 422.",
    cost=Cost(adds=3, searches=4),
    modes=(12,),
    peers=("P133",),
    cases=("B19",),
)
async def surrogates(trial: Trial) -> None:
    """In a message and in a query; what is asked and told afterwards still works."""
    user = trial.ns.user()
    marker, half = await planted(trial, user), trial.ns.marker()
    made = await attempt(trial, "add", trial.add_body(user, f"{half.text} \ud83d tail"))
    asked = await attempt(trial, "search", trial.search_body(user, f"{marker.query} \ud83d"))
    for what, exchange in (("message", made), ("query", asked)):
        trial.require(
            not crashed(exchange),
            f"a {what} with a lone surrogate was answered {exchange.summary}, which is sent again",
            exchange,
        )
    # No ordinary requests any more: what fails now fails because of that message.
    found = await attempt(trial, "search", trial.search_body(user, half.query))
    trial.require(
        not crashed(found),
        f"a message with a lone surrogate was answered {made.summary}, and the Search that finds "
        f"it {found.summary}",
        made,
        found,
    )
    later = trial.ns.marker()
    await attempt(trial, "add", trial.add_body(user, later.text))
    found = await attempt(trial, "search", trial.search_body(user, later.query))
    trial.require(
        found.status == 200 and bool(trial.showing(trial.items(found), later)),
        "after a message with a lone surrogate, the user's next message is not found",
        made,
        found,
    )


@rule(
    "fidelity/cjk-words",
    level=Level.SHOULD,
    clauses=("A10", "S1"),
    title="A word copied from a stored Chinese, Japanese or Korean sentence finds it.",
    why="Tokenizers made for spaces see one long word there and match nothing.",
    fix="Index pairs of characters, or use a segmenter, for scripts without spaces.",
    cost=Cost(adds=4, searches=4),
    modes=(52,),
    peers=("P33",),
    cases=("B21",),
)
async def cjk_words(trial: Trial) -> None:
    """One sentence a user; the query is one of its words, or a question holding one."""
    await planted(trial, trial.ns.user())
    lost, shown = [], []
    for language, sentence, query in (
        ("Japanese", "明日は水族館で待ち合わせ", "水族館"),
        ("Chinese", "我把护照放在书房的抽屉里", "护照在哪里"),
        ("Korean", "다음주에 치과 예약이 있어요", "치과"),
    ):
        user = trial.ns.user()
        await trial.add(user, sentence)
        items = await trial.search(user, query)
        if not any(sentence in item.content for item in items) and (
            Capability.VERBATIM in trial.run.capabilities or not items
        ):
            lost.append(language)
            shown.append(trial.last_exchange_of("search"))
    trial.require(
        not lost, f"a word of a stored sentence does not find it in {', '.join(lost)}", *shown[:1]
    )


async def comes_back(trial: Trial, marker: Marker, sent: str, complaint: str) -> None:
    """Store ``sent``, which holds ``marker``, for a fresh user; it is found as it was sent.

    Raises:
        Violation: ``complaint``: it is found, but changed.
        NotTested: it is not found.
    """
    user = trial.ns.user()
    await trial.add(user, sent)
    items = await trial.find(user, marker)
    exchange = trial.last_exchange_of("search")
    if not items:
        raise NotTested("a stored message is not found (see visibility/immediate)", exchange)
    trial.require(any(sent in item.content for item in items), complaint, exchange)
