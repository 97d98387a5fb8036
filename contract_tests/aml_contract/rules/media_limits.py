"""How large images may be, alone and together (clause M1).

These rules run alone: building and reading tens of MiB would slow others down.
"""

from __future__ import annotations

from aml_contract.namespace import Marker
from aml_contract.outcome import Level
from aml_contract.rule import Capability, Cost, rule
from aml_contract.techniques.images import (
    LARGEST_IMAGE,
    LARGEST_TOTAL,
    MIB,
    data_url,
    decoded_size,
    image_part,
    parts_of,
    png_of,
    stored,
    text_part,
    turn,
)
from aml_contract.techniques.steps import attempt, data_of, planted
from aml_contract.trial import Trial

IMAGES = frozenset({Capability.IMAGES})


@rule(
    "media/largest-image",
    level=Level.MUST,
    clauses=("M1",),
    title="An image of exactly 10 MiB is accepted.",
    why="That is the limit the platform promises to keep; an Add refused with 413 is lost.",
    fix="Limit images to 10,485,760 bytes decoded, not to 10 MB, and not in Base64.",
    cost=Cost(adds=2, searches=2),
    capabilities=IMAGES,
    modes=(13, 17),
    peers=("P31", "P133"),
    exclusive=True,
    quick=False,
)
async def largest_image(t: Trial) -> None:
    """One picture of noise beside a text."""
    await _accepted(t, [LARGEST_IMAGE], "an image of 10 MiB")


@rule(
    "media/largest-request",
    level=Level.MUST,
    clauses=("M1",),
    title="Three images of 9.9 MiB in one Add, 40 MiB of JSON, are accepted.",
    why="30 MiB are legal decoded; Base64 makes 41 MiB of them, above the limits of many "
    "servers and proxies.",
    fix="Let bodies of at least 48 MiB pass, in the server and in every proxy before it, and "
    "count what is decoded.",
    cost=Cost(adds=2, searches=2),
    capabilities=IMAGES,
    modes=(13, 14),
    peers=("P31", "P133"),
    exclusive=True,
    quick=False,
)
async def largest_request(t: Trial) -> None:
    """Three pictures of noise beside a text."""
    await _accepted(t, [int(9.9 * MIB)] * 3, "an Add with three images of 9.9 MiB")


@rule(
    "media/too-large",
    level=Level.MAY,
    clauses=("M1", "F3"),
    title="An image over 10 MiB, or more than 30 MiB in one Add, is refused with 4xx.",
    why="They cannot come from the platform; a server that crashes on them is sent them again.",
    fix="Check the decoded sizes and answer 413 or 422.",
    cost=Cost(adds=3, searches=1),
    capabilities=IMAGES,
    modes=(17,),
    peers=("P133",),
    exclusive=True,
    quick=False,
)
async def too_large(t: Trial) -> None:
    """One byte too many in an image; then four images that are too much together."""
    user = t.ns.user()
    await planted(t, user)
    for sizes, what in (
        ([LARGEST_IMAGE + 1], "an image of 10 MiB and a byte"),
        ([int(7.6 * MIB)] * 4, "an Add with 30.4 MiB of images"),
    ):
        made = await attempt(t, "add", t.add_body(user, _pictures(t, t.ns.marker(), sizes)))
        # No answer: who refuses a large body may hang up before it has all been sent.
        t.require(
            (made.status or 0) < 500,
            f"{what} was answered {made.summary}, which is sent again",
            made,
        )
        if made.status == 200:
            t.warn(f"{what} was accepted, above the limit", made)


@rule(
    "media/answer-size",
    level=Level.MUST,
    clauses=("M1", "S10"),
    title="A Search answer holds at most 30 MiB of images.",
    why="A larger answer is a contract error, and the question is lost.",
    fix="Count the decoded images of the items, most relevant first, and stop before 30 MiB.",
    cost=Cost(adds=5, searches=2),
    capabilities=IMAGES,
    modes=(72,),
    exclusive=True,
    quick=False,
)
async def answer_size(t: Trial) -> None:
    """Four messages on one topic with 9 MiB each; all are asked for."""
    user, topic = t.ns.user(), t.ns.topic(4)
    await planted(t, user)
    for marker in topic.markers:
        added = await stored(t, user, _pictures(t, marker, [9 * MIB]), "an image of 9 MiB")
    made = await attempt(t, "search", t.search_body(user, topic.query))
    t.require(
        made.status == 200,
        f"a Search that finds four images of 9 MiB was answered {made.summary}",
        added,
        made,
    )
    total = sum(
        decoded_size(value)
        for item in data_of(t, made)
        if isinstance(item, dict)
        for kind, value in parts_of(item.get("content"))
        if kind == "image"
    )
    t.require(
        total <= LARGEST_TOTAL,
        f"a Search was answered with {total / MIB:.1f} MiB of images",
        made,
    )
    t.require(
        any(t.showing(t.items(made), marker) for marker in topic.markers),
        "a Search that finds four images of 9 MiB was answered without any of them",
        added,
        made,
    )


async def _accepted(t: Trial, sizes: list[int], what: str) -> None:
    """Images of these sizes are stored, and the text beside them is found."""
    user, marker = t.ns.user(), t.ns.marker()
    await planted(t, user)
    added = await stored(t, user, _pictures(t, marker, sizes), what)
    exchange = await t.search_exchange(user, marker.query)
    t.require(
        bool(t.showing(t.items(exchange), marker)),
        f"the text beside {what.removeprefix('an Add with ')} was acknowledged and is not found",
        added,
        exchange,
    )


def _pictures(t: Trial, marker: Marker, sizes: list[int]) -> dict[str, object]:
    """A message of a text and pictures of so many bytes."""
    images = [image_part(data_url(png_of(size, t.ns.random))) for size in sizes]
    return turn(text_part(marker.text), *images)
