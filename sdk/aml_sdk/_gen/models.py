"""The contract's messages as strict pydantic models.

Generated from ``proto/aml/memory/v1/memory.proto`` by ``scripts/generate``; do not edit.

A value that these models take is one that the contract allows. ``model_validate_json`` reads a
body; ``model_dump_json(exclude_none=True)`` writes one. Types are exact: ``true`` is no number
and ``"5"`` no integer. A lone surrogate, NaN and an infinity are refused. Unknown keys are
ignored at every level, and null means absent where absence is allowed (clause A8). Models are
values: they cannot be changed, ``model_copy(update=…)`` makes another. What an image's URL holds
is not looked at here.
"""

from __future__ import annotations

import math
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field
from pydantic.json_schema import SkipJsonSchema

__all__ = [
    "AddRequest",
    "AddResponse",
    "Content",
    "ContentPart",
    "ErrorDetail",
    "ErrorResponse",
    "HealthResponse",
    "ImagePart",
    "ImageURL",
    "Memory",
    "Message",
    "SearchRequest",
    "SearchResponse",
    "TextPart",
]


class _Message(BaseModel):
    model_config = ConfigDict(strict=True, extra="ignore", frozen=True, allow_inf_nan=False)


def _boolean(value: Any) -> Any:
    """A JSON boolean, and not a number that equals one."""
    if not isinstance(value, bool):
        raise ValueError("Input should be a JSON boolean")
    return value


def _floored(value: Any) -> Any:
    """A finite number as the integer at or below it."""
    if isinstance(value, float) and math.isfinite(value):
        return math.floor(value)
    return value


def _integral_int32(value: Any) -> Any:
    """An integral number, ``87.0`` too; above the range it means the largest value."""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if type(value) is int and value > 2147483647:
        return 2147483647
    return value


def _absent_if_empty(value: list[Any] | None) -> list[Any] | None:
    """An empty list means the same as none."""
    return value or None


class TextPart(_Message):
    """A part with text, accepted on every track (clause A6)."""

    type: Literal["text"]
    """The kind of part; the only one that is so called."""
    text: str
    """The text, kept code point for code point (clause A10)."""


class ImageURL(_Message):
    """Where an image is: inside the URL itself (clause M1)."""

    url: str
    """A data URL with Base64 of a JPEG, PNG or WebP, never a remote one; at most 10 MiB decoded,
    and 30 MiB in one request or answer (clause M1).
    """


class ImagePart(_Message):
    """A part with an image; a service that knows text only refuses it (clause M2)."""

    type: Literal["image_url"]
    """The kind of part; the only one that is so called."""
    image_url: ImageURL
    """The image (clause M1)."""


ContentPart = Annotated[TextPart | ImagePart, Field(discriminator="type")]
"""Text or an image; another kind is refused (clause A6)."""

Content = str | list[ContentPart]
"""A string, or ordered parts (clause A6)."""


class Message(_Message):
    """One turn of a conversation (clause A4)."""

    role: Annotated[str, Field(min_length=1)]
    """Who speaks. No closed set is published: any name is taken (clause A5)."""
    content: Content
    """What is said. Text is kept code point for code point; a lone surrogate is refused
    (clause A10). An empty one is a blank turn, which is skipped (clause A9).
    """
    timestamp: (
        Annotated[
            int,
            Field(ge=0, le=9223372036854775807),
            BeforeValidator(
                _floored,
                json_schema_input_type=Annotated[float, Field(ge=0, lt=9223372036854775808)],
            ),
        ]
        | None
    ) = None
    """When it was said: Unix milliseconds, from 0 to below 2^63; fractions are floored (clause A7)."""


class AddRequest(_Message):
    """A chunk of one conversation (clause A1)."""

    request_id: Annotated[str, Field(min_length=1)]
    """Opaque name of this write; the same on every try (clause A1)."""
    user_id: Annotated[str, Field(min_length=1)]
    """Opaque name of the user: the only isolation key (clause A2)."""
    session_id: Annotated[str, Field(min_length=1)]
    """Groups one source conversation; never a filter of a Search (clause A3)."""
    messages: Annotated[list[Message], Field(min_length=1)]
    """The messages in source order, one at least (clause A4)."""


class AddResponse(_Message):
    """A stored chunk: success and the request's own ids (clause A11)."""

    success: Annotated[Literal[True], BeforeValidator(_boolean)]
    """The JSON boolean true (clause A11)."""
    request_id: Annotated[str, Field(min_length=1)]
    """Equal to the request's, byte for byte (clause A11)."""
    user_id: Annotated[str, Field(min_length=1)]
    """Equal to the request's, byte for byte (clause A11)."""
    session_id: Annotated[str, Field(min_length=1)]
    """Equal to the request's, byte for byte (clause A11)."""


class SearchRequest(_Message):
    """A question to one user's memory (clause S1)."""

    query: Annotated[str, Field(min_length=1)] | Annotated[list[ContentPart], Field(min_length=1)]
    """The question in its own language; on the Multimodal track it may be parts (clause S1)."""
    options: Annotated[list[str] | None, AfterValidator(_absent_if_empty)] = None
    """Answers to choose from. They may steer the ranking and never come back as evidence; an empty
    list means none (clause S2).
    """
    user_id: Annotated[str, Field(min_length=1)]
    """The user whose memory is searched: the value that Add was given (clause A2)."""
    top_k: Annotated[
        int,
        Field(ge=1),
        BeforeValidator(_integral_int32, json_schema_input_type=Annotated[int, Field(ge=1)]),
    ]
    """How many memories to give at most: a positive integer, `87.0` is one too; formal runs send
    100 (clause S3).
    """


class Memory(_Message):
    """A stored memory. Only these four fields are read (clause S10)."""

    id: Annotated[str, Field(min_length=1)]
    """Stable across calls, later Adds and restarts; unique in the list (clause S6)."""
    content: Annotated[str, Field(min_length=1)] | Annotated[list[ContentPart], Field(min_length=1)]
    """The evidence; on the Multimodal track it may be parts (clause S7)."""
    score: float | SkipJsonSchema[None] = None
    """A finite number, higher is better; left out rather than null (clause S8)."""
    created_at: (
        Annotated[str, Field(json_schema_extra={"format": "date-time"})] | SkipJsonSchema[None]
    ) = None
    """ISO 8601 with an offset, the source's time preferred; left out rather than null (clause S9)."""


class SearchResponse(_Message):
    """What was found (clause S5)."""

    data: list[Memory]
    """The most relevant first, never null (clause S5); `top_k` at most (clause S10)."""


class HealthResponse(_Message):
    """The endpoint serves; nobody reads this (clause E3)."""

    status: str | SkipJsonSchema[None] = None
    """A word for people (clause E3)."""


class ErrorDetail(_Message):
    """A failure in words (clause F4)."""

    reason: str
    """No payload, key or traceback is in it (clause F4)."""


class ErrorResponse(_Message):
    """Why a request failed. Nobody checks the shape (clause F4)."""

    detail: ErrorDetail
    """The failure (clause F4)."""
