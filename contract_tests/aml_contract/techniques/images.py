"""Images to send: small ones of each kind, and PNGs of an exact size (clause M1)."""

from __future__ import annotations

import base64
import binascii
import random
import struct
import zlib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from aml_contract.exchange import Exchange
from aml_contract.techniques.steps import attempt
from aml_contract.trial import Trial

MIB = 2**20
LARGEST_IMAGE = 10 * MIB
"""Bytes of one image, decoded from Base64."""
LARGEST_TOTAL = 30 * MIB
"""Bytes of all images of one Add or one answer, decoded."""

# A red disc on a pale ground, 32 pixels wide, written by Pillow.
JPEG = base64.b64decode(
    "/9j/4AAQSkZJRgABAQAAAQABAAD/2wBDABQODxIPDRQSEBIXFRQYHjIhHhwcHj0sLiQySUBMS0dARkVQWnNiUFVtVkVG"
    "ZIhlbXd7gYKBTmCNl4x9lnN+gXz/2wBDARUXFx4aHjshITt8U0ZTfHx8fHx8fHx8fHx8fHx8fHx8fHx8fHx8fHx8fHx8"
    "fHx8fHx8fHx8fHx8fHx8fHx8fHz/wAARCAAgACADASIAAhEBAxEB/8QAGAABAAMBAAAAAAAAAAAAAAAABgADBAX/xAAn"
    "EAACAgIBAQcFAAAAAAAAAAABAgMRAAQFMRITIVFhocEyQXGR8P/EABgBAAIDAAAAAAAAAAAAAAAAAAABAgME/8QAHBEA"
    "AgMAAwEAAAAAAAAAAAAAAQIAAxESEyEx/9oADAMBAAIRAxEAPwBZmbY39XWbszTKreQskfmumTkJ21tKWVPqAoehJq/f"
    "CTMWYsxJJNkn75QzZNNNPZ6fkWQ8lqTuEjnUsegIIv8AeasEYo4bZfZ0QZCSyMULE9f68FbY7qAg0S3k4nn4+ZIxbEWB"
    "50b+MJY3zBs8Rq7MhkIZGJtihq8GXYUXBBhhfE3BRPFoW4rvGLAengPjJDwmpE4Yh5K6Bz4e2dHEq56ZK+8OOKz/2Q=="
)
WEBP = base64.b64decode(
    "UklGRsoAAABXRUJQVlA4IL4AAADQBQCdASogACAAPuFgp02opiOiN/VYARAcCWwArDL2deCAGxCIN+PeLPEcbd9h7GPO"
    "6py29kIAAP7vtKjU2i2U4Z2U+rk1aRlhhXtewEcamY5aGpC8w9MtfD/V6fYhUZkLuAGIDBjJ3cDndsKGUNqkhcSY7KT9"
    "o18CmjQujw8hhw1O/XyFFnyYZKfiFww2/Bvv7szl3PT54/T07F0n1zvaO9szlMN1GeEF3bFBFq9k76T8AJ8ZV/idLGw6"
    "KgAA"
)


def small_png(chance: random.Random) -> bytes:
    """A PNG of 32 by 32 pixels in a colour of its own."""
    return _png(32, bytes(chance.randrange(256) for _ in range(3)) * 32 * 32, level=9)


def png_of(size: int, chance: random.Random) -> bytes:
    """A PNG of exactly ``size`` bytes: noise, as a photograph is to a compressor.

    What is missing to the exact size is a private chunk, which every reader skips.
    """
    width = int((size / 3) ** 0.5) - 8
    image = _png(width, chance.randbytes(3 * width * width), level=0)
    missing = size - len(image) - 12
    if missing < 0:
        raise ValueError(f"no PNG of noise has {size} bytes")
    end = len(image) - 12  # before IEND
    return image[:end] + _chunk(b"prVt", bytes(missing)) + image[end:]


def data_url(image: bytes, kind: str = "image/png") -> str:
    """The data URL of an image, labelled ``kind``."""
    return f"data:{kind};base64,{base64.b64encode(image).decode()}"


def text_part(text: str) -> dict[str, Any]:
    """A text part."""
    return {"type": "text", "text": text}


def image_part(url: str) -> dict[str, Any]:
    """An image part that names its image by a URL."""
    return {"type": "image_url", "image_url": {"url": url}}


def turn(*parts: Mapping[str, Any]) -> dict[str, Any]:
    """A user's message of parts."""
    return {"role": "user", "content": [dict(part) for part in parts]}


def parts_of(content: Any) -> list[tuple[str, str]]:
    """The parts of a ``content`` as (``text`` or ``image``, value); a string is one text."""
    if isinstance(content, str):
        return [("text", content)]
    return list(_read(content)) if isinstance(content, list) else []


def decoded_size(url: str) -> int:
    """The bytes that a data URL stands for; 0 if it is none."""
    head, _, data = url.partition(",")
    if not head.endswith(";base64"):
        return 0
    return len(data) * 3 // 4 - data[-2:].count("=")


def same_image(url: str, image: bytes) -> bool:
    """Whether a data URL holds exactly these bytes."""
    try:
        return base64.b64decode(url.partition(",")[2], validate=True) == image
    except (binascii.Error, ValueError):
        return False


async def stored(t: Trial, user: str, message: dict[str, Any], what: str) -> Exchange:
    """Add a message with an image, which an endpoint that claims images must accept.

    Raises:
        Violation: it was refused, or failed again and again.
    """
    made = await attempt(t, "add", t.add_body(user, message))
    t.require(made.status == 200, f"{what} was answered {made.summary}", made)
    return made


def _read(parts: Sequence[Any]) -> Iterator[tuple[str, str]]:
    for part in parts:
        if not isinstance(part, dict):
            continue
        if isinstance(part.get("text"), str):
            yield "text", part["text"]
        source = part.get("image_url")
        url = source.get("url") if isinstance(source, dict) else source
        if isinstance(url, str):
            yield "image", url


def _png(width: int, pixels: bytes, *, level: int) -> bytes:
    """A square RGB picture."""
    rows = (pixels[3 * width * y : 3 * width * (y + 1)] for y in range(width))
    data = b"".join(b"\0" + row for row in rows)
    head = struct.pack(">IIBBBBB", width, width, 8, 2, 0, 0, 0)
    return (
        b"\x89PNG\r\n\x1a\n"
        + _chunk(b"IHDR", head)
        + _chunk(b"IDAT", zlib.compress(data, level))
        + _chunk(b"IEND", b"")
    )


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
