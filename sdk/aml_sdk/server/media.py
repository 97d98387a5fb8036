"""Images of a request: inline, of three kinds, within the limits (clause M1)."""

from __future__ import annotations

import binascii
import re
from collections.abc import Iterable, Iterator

from aml_sdk._gen.models import AddRequest, ImagePart, SearchRequest
from aml_sdk.content import decoded_size, images_of
from aml_sdk.server.problem import Problem
from aml_sdk.server.settings import Settings

_DATA_URL = re.compile(r"data:[^,]{0,200};base64,", re.IGNORECASE)
_WEBP = re.compile(rb"RIFF....WEBP", re.DOTALL)
_STARTS = (b"\xff\xd8\xff", b"\x89PNG\r\n\x1a\n")

_Located = tuple[str, ImagePart]


def check_images(request: AddRequest | SearchRequest, *, images: bool, settings: Settings) -> None:
    """Let the images pass, if any.

    The kind is read from the bytes; the label of the data URL is not believed.

    Raises:
        Problem: 422 for a remote or malformed image, one too large, too many of them, or any
            at all where the system understands text only (clause M2).
    """
    total = 0
    for path, part in _images(request):
        if not images:
            raise Problem(422, f"{path}: this memory understands text only")
        total += _check(path, part.image_url.url, settings.max_image)
        if total > settings.max_images:
            raise Problem(422, f"{path}: the images exceed {settings.max_images} bytes decoded")


def _images(request: AddRequest | SearchRequest) -> Iterator[_Located]:
    if isinstance(request, SearchRequest):
        yield from _located("query", images_of(request.query))
        return
    for position, message in enumerate(request.messages):
        if not isinstance(message.content, str):
            yield from _located(f"messages.{position}.content", images_of(message.content))


def _located(path: str, parts: Iterable[ImagePart]) -> Iterator[_Located]:
    return ((f"{path}: image {number}", part) for number, part in enumerate(parts, start=1))


def _check(path: str, url: str, limit: int) -> int:
    """The decoded size of a good image."""
    head = _DATA_URL.match(url)
    if head is None:
        raise Problem(422, f"{path}: only inline base64 data URLs are accepted (clause M1)")
    if decoded_size(url) > limit:
        raise Problem(422, f"{path}: exceeds {limit} bytes decoded (clause M1)")
    try:
        image = binascii.a2b_base64(url[head.end() :], strict_mode=True)
    except (binascii.Error, ValueError):
        raise Problem(422, f"{path}: the base64 is malformed") from None
    if not (image.startswith(_STARTS) or _WEBP.match(image)):
        raise Problem(422, f"{path}: neither JPEG, PNG nor WebP (clause M1)")
    return len(image)
