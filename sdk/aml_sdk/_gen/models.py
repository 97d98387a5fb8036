"""The messages of the Add/Search contract as strict pydantic models."""

from __future__ import annotations

import math
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field


class _Message(BaseModel):
    model_config = ConfigDict(strict=True, extra="ignore", frozen=True, allow_inf_nan=False)


def _floored(value: Any) -> Any:
    """A JSON number as the integer at or below it (clause A7)."""
    if isinstance(value, float) and math.isfinite(value):
        return math.floor(value)
    return value


def _capped_int32(value: Any) -> Any:
    """An integral JSON number, ``87.0`` too; what exceeds int32 means its largest value."""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if type(value) is int and value > 2147483647:
        return 2147483647
    return value


def _boolean(value: Any) -> Any:
    """A JSON boolean, not a number that equals one (clause A11)."""
    if not isinstance(value, bool):
        raise ValueError("Input should be a JSON boolean")
    return value


def _absent_if_empty(value: list[str] | None) -> list[str] | None:
    """An empty list means the same as none (clause S2)."""
    return value or None


class ImageURL(_Message):
    url: str


class TextPart(_Message):
    type: Literal["text"]
    text: str


class ImagePart(_Message):
    type: Literal["image_url"]
    image_url: ImageURL


ContentPart = Annotated[TextPart | ImagePart, Field(discriminator="type")]


class Message(_Message):
    role: str = Field(min_length=1)
    content: str | list[ContentPart]
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


class AddRequest(_Message):
    request_id: str = Field(min_length=1)
    user_id: str = Field(min_length=1)
    session_id: str = Field(min_length=1)
    messages: list[Message] = Field(min_length=1)


class AddResponse(_Message):
    success: Annotated[Literal[True], BeforeValidator(_boolean)]
    request_id: str = Field(min_length=1)
    user_id: str = Field(min_length=1)
    session_id: str = Field(min_length=1)


class SearchRequest(_Message):
    query: Annotated[str, Field(min_length=1)] | Annotated[list[ContentPart], Field(min_length=1)]
    options: Annotated[list[str] | None, AfterValidator(_absent_if_empty)] = None
    user_id: str = Field(min_length=1)
    top_k: Annotated[
        int,
        Field(ge=1),
        BeforeValidator(_capped_int32, json_schema_input_type=Annotated[int, Field(ge=1)]),
    ]


class Memory(_Message):
    id: str = Field(min_length=1)
    content: Annotated[str, Field(min_length=1)] | Annotated[list[ContentPart], Field(min_length=1)]
    score: float | None = None
    created_at: str | None = None


class SearchResponse(_Message):
    data: list[Memory]


class HealthResponse(_Message):
    status: str | None = None


class ErrorDetail(_Message):
    reason: str


class ErrorResponse(_Message):
    detail: ErrorDetail
