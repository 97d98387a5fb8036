"""Ids that a careless server takes for one another (clauses A1, A2, L2).

Padded, folded, normalised, sanitised, truncated: for the contract each is an id of its own.
"""

from __future__ import annotations

from aml_contract.outcome import Level
from aml_contract.rule import Cost, rule
from aml_contract.techniques.twins import keep_apart
from aml_contract.trial import Trial


@rule(
    "isolation/prefix-ids",
    level=Level.MUST,
    clauses=("L2", "A2"),
    title="A user whose id is the beginning of another's does not see the other.",
    why="conv-1 and conv-10 are both in real runs; a prefix match gives one the other's memories.",
    fix="Compare user_id for equality: no LIKE 'id%', no startswith, no tokenized field.",
    cost=Cost(adds=7, searches=7),
    modes=(75,),
    peers=("P89",),
    quick=False,
)
async def prefix_ids(t: Trial) -> None:
    """u, u1, u10, u1 with a tail, and the same at the other end."""
    u = t.ns.user()
    await keep_apart(t, [f"{u}x", f"{u}x1", f"{u}x10", f"{u}x1:a", f"1{u}x", f"10{u}x", u])


@rule(
    "isolation/case-twins",
    level=Level.MUST,
    clauses=("L2", "A2"),
    title="User ids that differ in case only are different users.",
    why="Lower-casing or a case-insensitive collation merges two users.",
    fix="Compare ids byte for byte; in SQL use a binary collation.",
    cost=Cost(adds=4, searches=4),
    modes=(76,),
    peers=("P90",),
)
async def case_twins(t: Trial) -> None:
    """One id as it is, in lower, upper and swapped case."""
    plain = t.ns.user("Twin")
    await keep_apart(t, [plain, plain.lower(), plain.upper(), plain.swapcase()])


@rule(
    "isolation/padded-twins",
    level=Level.MUST,
    clauses=("L2", "A2"),
    title="A user id with white space around it is not the id without.",
    why="Stripping merges two users; so does a column that ignores trailing spaces.",
    fix="Never strip ids; avoid CHAR columns and str_strip_whitespace.",
    cost=Cost(adds=9, searches=9),
    modes=(75, 23),
    peers=("P87",),
)
async def padded_twins(t: Trial) -> None:
    """Space, two spaces, tab, newline, no-break and ideographic space, before or after."""
    plain = t.ns.user()
    pads = (" {}", "{} ", "{}  ", "\t{}", "{}\n", "{}\r\n", "{}\u00a0", "\u3000{}")
    await keep_apart(t, [plain, *(pad.format(plain) for pad in pads)])


@rule(
    "isolation/unicode-twins",
    level=Level.MUST,
    clauses=("L2", "A2"),
    title="User ids in different Unicode forms are different users.",
    why="Normalising (NFC, NFKC), folding or dropping invisible characters merges two users.",
    fix="Compare code points; never normalise, casefold or transliterate ids.",
    cost=Cost(adds=22, searches=22),
    modes=(76,),
    peers=("P90",),
    quick=False,
)
async def unicode_twins(t: Trial) -> None:
    """Composed and decomposed, wide and narrow, invisible, look-alike, special case rules."""
    plain = t.ns.user()
    tails = (
        "caf\u00e9", "cafe\u0301", "cafe",
        "u1", "\uff55\uff11", "u\u00b9", "u\u200b1", "u\u00ad1", "\ufeffu1",
        "i", "I", "\u0131", "\u0130",
        "stra\u00dfe", "strasse",
        "fi", "\ufb01",
        "\u00c5", "\u212b",
        "a", "\u0430",
    )  # fmt: skip
    await keep_apart(t, [plain, *(f"{plain}-{tail}" for tail in tails)])


@rule(
    "isolation/separator-twins",
    level=Level.MUST,
    clauses=("L2", "A2"),
    title="User ids that differ in a separator only are different users.",
    why="An id made safe for a file or a collection by replacing : or / becomes another user's.",
    fix="Keep the id itself, or append a digest of it to the cleaned name.",
    cost=Cost(adds=15, searches=15),
    modes=(20, 75),
    peers=("P91",),
    cases=("B06",),
)
async def separator_twins(t: Trial) -> None:
    """a:b, a_b and their kin, none, doubled, and percent-encoded."""
    u = t.ns.user()
    joints = (":", "_", "-", ".", "/", "|", "\\", "", " ", "::", "__", "+", "%3A", "%20", "#")
    await keep_apart(t, [f"{u}a{joint}b" for joint in joints])


@rule(
    "isolation/path-like-ids",
    level=Level.MUST,
    clauses=("L2", "A2"),
    title="User ids that look like paths are ids, not paths.",
    why="An id used as a file name reaches another user's file, or one outside the data directory.",
    fix="Name files by a digest of the id.",
    cost=Cost(adds=13, searches=13),
    modes=(20,),
    peers=("P88",),
    cases=("B04",),
    quick=False,
)
async def path_like_ids(t: Trial) -> None:
    """Dots, double slashes, trailing slashes, both kinds of slash, percent-encoding."""
    u = t.ns.user()
    forms = (
        "{}", "./{}", "../{}", "x/../{}", "/{}", "//{}", "{}/", "{}/.", "..\\{}",
        "run2/{}", "..%2F{}", "{}.json", "équipe 7/{}/überset.ru",
    )  # fmt: skip
    await keep_apart(t, [form.format(u) for form in forms])


@rule(
    "isolation/very-long-ids",
    level=Level.MUST,
    clauses=("L2", "A2"),
    title="Long user ids that differ in their last character only are different users.",
    why="A column or a name cut at 64, 128, 255 or 256 characters merges two users.",
    fix="Store ids in full, or a digest of the full id.",
    cost=Cost(adds=15, searches=15),
    modes=(76, 20),
    peers=("P93",),
    quick=False,
)
async def very_long_ids(t: Trial) -> None:
    """Pairs that part after 63, 64, 127, 128, 254, 255, and 999 characters."""
    u = t.ns.user()
    stems = [u.ljust(length, "x") for length in (63, 64, 127, 128, 254, 255, 999)]
    await keep_apart(t, [u, *(stem + last for stem in stems for last in "ab")])


@rule(
    "isolation/cjk-ids",
    level=Level.MUST,
    clauses=("L2", "A2"),
    title="User ids in Chinese, Japanese or Korean are kept apart.",
    why="Cleaning to ASCII leaves the same underscores, or nothing, of all of them.",
    fix="Keep the id itself, or name things by a digest of it.",
    cost=Cost(adds=8, searches=8),
    modes=(20,),
    peers=("P90",),
    quick=False,
)
async def cjk_ids(t: Trial) -> None:
    """Names of equal length, simplified and traditional, and in other scripts."""
    u = t.ns.user()
    names = ("plain", "张伟", "張偉", "李娜", "__", "さくら", "サクラ", "김민준")
    await keep_apart(t, [f"{u}-{name}" for name in names])


@rule(
    "isolation/emoji-ids",
    level=Level.MUST,
    clauses=("L2", "A2"),
    title="User ids with different emoji are different users.",
    why="A three-byte character set or a filter turns every emoji into the same question mark.",
    fix="Use utf8mb4 in MySQL; never drop or replace characters of ids.",
    cost=Cost(adds=8, searches=8),
    modes=(20,),
    peers=("P90",),
    quick=False,
)
async def emoji_ids(t: Trial) -> None:
    """Single, toned, joined, none, and what stands in for them when they are lost."""
    u = t.ns.user()
    tails = ("", "😀", "😁", "👍", "👍🏽", "👩‍👩‍👧", "?", "\ufffd")
    await keep_apart(t, [f"{u}-{tail}" for tail in tails])


@rule(
    "isolation/control-characters",
    level=Level.MUST,
    clauses=("L2", "A2"),
    title="User ids with NUL or control characters are refused or kept apart.",
    why="C strings end at NUL: the id and what comes before its NUL become one user.",
    fix="Refuse them with 422, or keep them whole.",
    cost=Cost(adds=7, searches=7),
    modes=(12, 76),
    peers=("P90",),
    quick=False,
)
async def control_characters(t: Trial) -> None:
    """NUL at the end, inside and in front; other controls; refusing them is fine."""
    u = t.ns.user()
    forms = ("{}", "{}\x00", "{}\x00x", "\x00{}", "{}\x1f", "{}\x7f", "{}\x08")
    await keep_apart(t, [form.format(u) for form in forms], may_refuse=True)
