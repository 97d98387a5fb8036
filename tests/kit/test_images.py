"""The images that rules send are what they are said to be."""

import asyncio
import base64
import random
import struct
import urllib.request
import zlib

import pytest

from aml_contract.techniques.images import (
    JPEG,
    WEBP,
    data_url,
    decoded_size,
    parts_of,
    png_of,
    same_image,
    small_png,
)
from aml_contract.techniques.listener import listening_for


def chunks(png):
    """The chunks of a PNG, whose checksums must be right."""
    place, found = 8, []
    while place < len(png):
        size, kind = struct.unpack(">I4s", png[place : place + 8])
        data = png[place + 8 : place + 8 + size]
        (sum_,) = struct.unpack(">I", png[place + 8 + size : place + 12 + size])
        assert sum_ == zlib.crc32(kind + data)
        found.append((kind, data))
        place += 12 + size
    return found


@pytest.mark.parametrize("size", [5_000, 1_000_000, 1_000_001])
def test_a_png_of_an_exact_size(size):
    png = png_of(size, random.Random(1))
    assert len(png) == size
    head, pixels, filler, end = chunks(png)
    width, height = struct.unpack(">II", head[1][:8])
    assert len(zlib.decompress(pixels[1])) == height * (1 + 3 * width)
    assert [kind for kind, _ in (head, pixels, filler, end)] == [b"IHDR", b"IDAT", b"prVt", b"IEND"]


def test_small_images_are_of_their_kind():
    png = small_png(random.Random(1))
    assert chunks(png)[0][0] == b"IHDR"
    assert small_png(random.Random(2)) != png
    assert JPEG.startswith(b"\xff\xd8\xff")
    assert JPEG.endswith(b"\xff\xd9")
    assert WEBP[:4] == b"RIFF"
    assert struct.unpack("<I", WEBP[4:8])[0] == len(WEBP) - 8


@pytest.mark.parametrize("size", [0, 1, 2, 3, 1000])
def test_sizes_are_read_without_decoding(size):
    assert decoded_size(data_url(bytes(size))) == size


def test_a_url_that_holds_no_image():
    assert decoded_size("https://h/x.png") == 0
    assert not same_image("data:image/png;base64,@@@", b"")
    assert same_image(data_url(b"abc"), b"abc")


def test_parts_are_read_leniently():
    image = {"type": "image_url", "image_url": {"url": "u"}}
    content = [{"type": "text", "text": "a"}, image, 7, {"image_url": "v"}, {}]
    assert parts_of(content) == [("text", "a"), ("image", "u"), ("image", "v")]
    assert parts_of("a") == [("text", "a")]
    assert parts_of(None) == []


@pytest.mark.parametrize(("path", "asked"), [("", True), ("/else", False)])
def test_the_listener_knows_its_own_url(path, asked):
    async def go():
        async with listening_for("http://127.0.0.1:9/add") as listener:
            url = listener.url if not path else listener.url.rpartition("/")[0] + path
            with pytest.raises(OSError, match="404"):
                await asyncio.to_thread(urllib.request.urlopen, url)
            assert listener.within_reach
            return listener.asked

    assert asyncio.run(go()) is asked


def test_base64_of_the_embedded_images_is_whole():
    assert base64.b64decode(data_url(JPEG).partition(",")[2]) == JPEG
