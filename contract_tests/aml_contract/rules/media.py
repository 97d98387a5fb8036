"""Images beside text (clauses M1, M2): what comes back, and what is refused.

Most rules ask for the capability ``images``, which an endpoint claims with ``--track
multimodal``; those that concern every endpoint say so. Sizes are in :mod:`media_limits`.
"""

from __future__ import annotations

from typing import Any

from aml_contract.exchange import Exchange
from aml_contract.finding import NotApplicable, NotTested
from aml_contract.namespace import Marker, squeeze
from aml_contract.outcome import Level
from aml_contract.rule import Capability, Cost, rule
from aml_contract.techniques.images import (
    JPEG,
    WEBP,
    data_url,
    image_part,
    parts_of,
    same_image,
    small_png,
    stored,
    text_part,
    turn,
)
from aml_contract.techniques.listener import listening_for
from aml_contract.techniques.steps import attempt, crashed, data_of, planted, refused
from aml_contract.trial import Trial

IMAGES = frozenset({Capability.IMAGES})


@rule(
    "media/round-trip",
    level=Level.MUST,
    clauses=("M2", "S7", "A6"),
    title="Text, image, text: both texts are found, in their order, with the image between.",
    why="The answer model reads what belongs together in its order; a caption before its "
    "picture, or a text lost beside it, answers another question.",
    fix="Keep the part list as it came and give it back as content; index its texts beside.",
    cost=Cost(adds=2, searches=3),
    capabilities=IMAGES,
    modes=(71, 11),
    peers=("P31",),
)
async def round_trip(t: Trial) -> None:
    """One message of three parts, and one of text alone, of the same user."""
    user, image = t.ns.user(), small_png(t.ns.random)
    before, after, plain = (t.ns.marker() for _ in range(3))
    parts = (text_part(before.text), image_part(data_url(image)), text_part(after.text))
    added = await stored(t, user, turn(*parts), "a message of text, image, text")
    for marker, which in ((before, "before"), (after, "after")):
        exchange = await t.search_exchange(user, marker.query)
        t.require(
            bool(t.showing(t.items(exchange), marker)),
            f"the text {which} an image was acknowledged and is not found",
            added,
            exchange,
        )
        for item in data_of(t, exchange):
            _in_order(t, item, (before, after), added, exchange)
    if not any(same_image(value, image) for value in _images(t, exchange)):
        t.warn(
            "the image does not come back, only text does: an answer that needs to see it fails",
            added,
            exchange,
        )
    added = await t.add(user, plain.text)
    exchange = await t.search_exchange(user, plain.query)
    t.require(
        bool(t.showing(t.items(exchange), plain)),
        "a message of text alone is not found on a service that takes images",
        added,
        exchange,
    )


@rule(
    "media/formats",
    level=Level.SHOULD,
    clauses=("M1",),
    title="JPEG, PNG and WebP are all accepted.",
    why="The benchmarks hold all three; a refused image takes its whole chunk with it.",
    fix="Allow image/jpeg, image/png and image/webp, and decode them all.",
    cost=Cost(adds=4, searches=4),
    capabilities=IMAGES,
    modes=(15,),
    peers=("P31",),
)
async def formats(t: Trial) -> None:
    """A small image of each kind beside a text, which must be found."""
    user = t.ns.user()
    await planted(t, user)
    images = {"JPEG": JPEG, "PNG": small_png(t.ns.random), "WebP": WEBP}
    for kind, image in images.items():
        marker = t.ns.marker()
        url = data_url(image, f"image/{kind.lower()}")
        added = await stored(
            t, user, turn(text_part(marker.text), image_part(url)), f"a message with a {kind} image"
        )
        exchange = await t.search_exchange(user, marker.query)
        t.require(
            bool(t.showing(t.items(exchange), marker)),
            f"the text beside a {kind} image was acknowledged and is not found",
            added,
            exchange,
        )


@rule(
    "media/mislabelled",
    level=Level.SHOULD,
    clauses=("M1", "F3"),
    title="An image under a wrong label, or no image at all, is handled or refused with 4xx.",
    why="Labels in real data are wrong; a decoder that throws answers 500, which is sent again.",
    fix="Read the kind from the first bytes; catch the decoder's errors and answer 422.",
    cost=Cost(adds=5, searches=2),
    capabilities=IMAGES,
    modes=(15,),
)
async def mislabelled(t: Trial) -> None:
    """PNG as JPEG; then text, a GIF and broken Base64 as PNG."""
    user, marker = t.ns.user(), t.ns.marker()
    await planted(t, user)
    url = data_url(small_png(t.ns.random), "image/jpeg")
    made = await _no_crash(t, user, marker.text, url, "a PNG labelled JPEG")
    if made.status == 200:
        exchange = await t.search_exchange(user, marker.query)
        t.require(
            bool(t.showing(t.items(exchange), marker)),
            "the text beside a PNG labelled JPEG was acknowledged and is not found",
            made,
            exchange,
        )
    lenient: list[tuple[str, Exchange]] = []
    for what, url in (
        ("plain text labelled PNG", data_url(b"this is no image")),
        ("a GIF", data_url(b"GIF89a" + bytes(30), "image/gif")),
        ("broken Base64", "data:image/png;base64,@@@@"),
    ):
        made = await _no_crash(t, user, t.ns.marker().text, url, what)
        if made.status == 200:
            lenient.append((what, made))
    if lenient:
        t.warn(f"accepted as an image: {', '.join(w for w, _ in lenient)}", lenient[0][1])


@rule(
    "media/query-parts",
    level=Level.MUST,
    clauses=("S1", "M1"),
    title="A query may be a list of text and image parts.",
    why="Multimodal questions show a picture; a Search refused with 422 is never sent again.",
    fix="Accept a part list as query; search by its text, and by its image if you can.",
    cost=Cost(adds=1, searches=3),
    capabilities=IMAGES,
    modes=(53,),
    peers=("P31",),
)
async def query_parts(t: Trial) -> None:
    """Text parts alone, and text with an image; both find a stored text."""
    user = t.ns.user()
    marker = await planted(t, user)
    text, image = text_part(marker.query), image_part(data_url(small_png(t.ns.random)))
    for parts, what in (([text], "a text part"), ([text, image], "a text and an image part")):
        made = await attempt(t, "search", {**t.search_body(user, ""), "query": parts})
        t.require(made.status == 200, f"a query of {what} was answered {made.summary}", made)
        t.require(
            bool(t.showing(t.items(made), marker)),
            f"a query of {what} does not find what its text alone finds",
            made,
        )


@rule(
    "media/base64-in-text",
    level=Level.SHOULD,
    clauses=("S7", "M2"),
    title="The Base64 of an image is never part of a text.",
    why="Megabytes of letters fill the answer model's input and say nothing.",
    fix="Build texts from text parts only; give images back as image parts.",
    cost=Cost(adds=1, searches=2),
    capabilities=IMAGES,
    modes=(70, 69),
)
async def base64_in_text(t: Trial) -> None:
    """A text beside an image; every text of the answers is looked through."""
    user, marker, image = t.ns.user(), t.ns.marker(), small_png(t.ns.random)
    url = data_url(image)
    added = await stored(
        t, user, turn(text_part(marker.text), image_part(url)), "a message with an image"
    )
    letters = url.partition(",")[2][:64]
    for query in (marker.query, "What does the picture show?"):
        exchange = await t.search_exchange(user, query)
        for item in data_of(t, exchange):
            for kind, value in parts_of(item.get("content") if isinstance(item, dict) else None):
                t.require(
                    kind != "text" or not ("data:image" in value or letters in value),
                    "the Base64 of an image comes back inside a text",
                    added,
                    exchange,
                )


@rule(
    "media/text-only-refuses",
    level=Level.SHOULD,
    clauses=("M2", "F3"),
    title="A service for text refuses image parts loudly; it never drops them silently.",
    why="A 200 with the image dropped looks like success until every question about it fails.",
    fix="Answer 422 to part types you do not store.",
    cost=Cost(adds=2, searches=2),
    modes=(11,),
    peers=("P31",),
)
async def text_only_refuses(t: Trial) -> None:
    """Text and image on an endpoint that does not claim images, whatever its track."""
    if Capability.IMAGES in t.run.capabilities:
        raise NotApplicable("the endpoint claims images (see media/round-trip)")
    user, marker, image = t.ns.user(), t.ns.marker(), small_png(t.ns.random)
    await planted(t, user)
    made = await _no_crash(t, user, marker.text, data_url(image), "an image part")
    exchange = await t.search_exchange(user, marker.query)
    found = bool(t.showing(t.items(exchange), marker))
    if refused(made):
        t.require(
            not found,
            f"a message with an image was answered {made.status}, and its text is stored",
            made,
            exchange,
        )
    elif made.status == 200 and not any(same_image(v, image) for v in _images(t, exchange)):
        t.warn(
            "a message with an image was answered 200, and the image does not come back: "
            "it was dropped silently, unless a description of it was stored",
            made,
            exchange,
        )


@rule(
    "media/remote-url",
    level=Level.SHOULD,
    clauses=("M1",),
    title="A remote image URL is refused and never fetched.",
    why="A service that fetches what a message names reaches into its own network for strangers.",
    fix="Accept data: URLs only; answer 422 to any other scheme, on every track.",
    cost=Cost(adds=2, searches=2),
    modes=(16,),
)
async def remote_url(t: Trial) -> None:
    """The URL of a listener of the kit's own, in an Add and in a query."""
    user = t.ns.user()
    await planted(t, user)
    try:
        async with listening_for(t.endpoint.add_url) as listener:
            parts = [text_part(t.ns.marker().text), image_part(listener.url)]
            made = await attempt(t, "add", t.add_body(user, turn(*parts)))
            asked = await attempt(t, "search", {**t.search_body(user, ""), "query": parts})
            await t.pause(1.0)
            t.require(not listener.asked, "a remote image URL was fetched", made, asked)
            if not listener.within_reach:
                t.note("the kit cannot be reached from there: whether it fetches was not seen")
    except OSError as error:
        raise NotTested(f"no port to listen on for a fetch: {error}") from error
    for exchange in (made, asked):
        name = exchange.operation.capitalize()
        # Who crashes on any image is told so by media/text-only-refuses.
        t.require(
            not crashed(exchange) or Capability.IMAGES not in t.run.capabilities,
            f"a {name} with a remote image URL was answered {exchange.summary}, which is sent "
            "again",
            exchange,
        )
        if exchange.status == 200:
            t.warn(f"a {name} with a remote image URL was accepted, not refused", exchange)


async def _no_crash(t: Trial, user: str, text: str, url: str, what: str) -> Exchange:
    """Add a message with a questionable image: 200 and 4xx are both answers."""
    made = await attempt(t, "add", t.add_body(user, turn(text_part(text), image_part(url))))
    t.require(not crashed(made), f"{what} was answered {made.summary}, which is sent again", made)
    return made


def _images(t: Trial, exchange: Exchange) -> list[str]:
    """The URLs of all image parts of an answer."""
    return [
        value
        for item in data_of(t, exchange)
        if isinstance(item, dict)
        for kind, value in parts_of(item.get("content"))
        if kind == "image"
    ]


def _in_order(
    t: Trial, item: Any, markers: tuple[Marker, Marker], added: Exchange, exchange: Exchange
) -> None:
    """An item that holds both texts holds them, and an image, in the order they came."""
    parts = parts_of(item.get("content") if isinstance(item, dict) else None)
    together = "".join(squeeze(value) if kind == "text" else "\0" for kind, value in parts)
    places = [together.find(squeeze(marker.text)) for marker in markers]
    if min(places) < 0:
        return
    between = "\0" not in together or "\0" in together[places[0] : places[1]]
    t.require(
        places[0] < places[1] and between,
        "text, image, text came back in another order",
        added,
        exchange,
    )
