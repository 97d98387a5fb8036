"""Between the models and the protobuf messages, for every message of the contract.

Generated from ``proto/aml/memory/v1/memory.proto`` by ``scripts/generate``; do not edit.

JSON bodies never pass through protobuf's own JSON: it writes 64-bit integers as strings, drops
``false`` and ``[]``, and takes ``"5"`` for 5. Going from a model to protobuf and back gives the
same model.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, overload

from aml_sdk._gen import memory_pb2 as pb
from aml_sdk._gen import models


@overload
def to_proto(value: models.TextPart) -> pb.TextPart: ...


@overload
def to_proto(value: models.ImageURL) -> pb.ImageURL: ...


@overload
def to_proto(value: models.ImagePart) -> pb.ImagePart: ...


@overload
def to_proto(value: models.Message) -> pb.Message: ...


@overload
def to_proto(value: models.AddRequest) -> pb.AddRequest: ...


@overload
def to_proto(value: models.AddResponse) -> pb.AddResponse: ...


@overload
def to_proto(value: models.SearchRequest) -> pb.SearchRequest: ...


@overload
def to_proto(value: models.Memory) -> pb.Memory: ...


@overload
def to_proto(value: models.SearchResponse) -> pb.SearchResponse: ...


@overload
def to_proto(value: models.HealthResponse) -> pb.HealthResponse: ...


@overload
def to_proto(value: models.ErrorDetail) -> pb.ErrorDetail: ...


@overload
def to_proto(value: models.ErrorResponse) -> pb.ErrorResponse: ...


def to_proto(value: Any) -> Any:
    """The protobuf message of a model.

    Raises:
        TypeError: it is not a model of the contract.
    """
    convert = _TO_PROTO.get(type(value))
    if convert is None:
        raise TypeError(f"{type(value).__name__} is not a model of the contract")
    return convert(value)


@overload
def from_proto(value: pb.TextPart) -> models.TextPart: ...


@overload
def from_proto(value: pb.ImageURL) -> models.ImageURL: ...


@overload
def from_proto(value: pb.ImagePart) -> models.ImagePart: ...


@overload
def from_proto(value: pb.Message) -> models.Message: ...


@overload
def from_proto(value: pb.AddRequest) -> models.AddRequest: ...


@overload
def from_proto(value: pb.AddResponse) -> models.AddResponse: ...


@overload
def from_proto(value: pb.SearchRequest) -> models.SearchRequest: ...


@overload
def from_proto(value: pb.Memory) -> models.Memory: ...


@overload
def from_proto(value: pb.SearchResponse) -> models.SearchResponse: ...


@overload
def from_proto(value: pb.HealthResponse) -> models.HealthResponse: ...


@overload
def from_proto(value: pb.ErrorDetail) -> models.ErrorDetail: ...


@overload
def from_proto(value: pb.ErrorResponse) -> models.ErrorResponse: ...


def from_proto(value: Any) -> Any:
    """The model of a protobuf message.

    Raises:
        ValueError: the contract does not allow its values; pydantic's ``ValidationError`` is one.
        TypeError: it is not a message of the contract.
    """
    convert = _FROM_PROTO.get(type(value))
    if convert is None:
        raise TypeError(f"{type(value).__name__} is not a message of the contract")
    return convert(value)


def _present(message: Any, field: str) -> Any:
    """A field that holds a message and must be set."""
    if not message.HasField(field):
        raise ValueError(f"{message.DESCRIPTOR.name}.{field} is not set")
    return getattr(message, field)


def _true(value: bool) -> Literal[True]:
    if not value:
        raise ValueError("only true is allowed here")
    return True


def _text_part_to_proto(value: models.TextPart) -> pb.TextPart:
    return pb.TextPart(
        text=value.text,
    )


def _text_part_from_proto(value: pb.TextPart) -> models.TextPart:
    return models.TextPart(
        type="text",
        text=value.text,
    )


def _image_url_to_proto(value: models.ImageURL) -> pb.ImageURL:
    return pb.ImageURL(
        url=value.url,
    )


def _image_url_from_proto(value: pb.ImageURL) -> models.ImageURL:
    return models.ImageURL(
        url=value.url,
    )


def _image_part_to_proto(value: models.ImagePart) -> pb.ImagePart:
    return pb.ImagePart(
        image_url=_image_url_to_proto(value.image_url),
    )


def _image_part_from_proto(value: pb.ImagePart) -> models.ImagePart:
    return models.ImagePart(
        type="image_url",
        image_url=_image_url_from_proto(_present(value, "image_url")),
    )


def _content_part_to_proto(value: models.ContentPart) -> pb.ContentPart:
    if isinstance(value, models.TextPart):
        return pb.ContentPart(text=_text_part_to_proto(value))
    return pb.ContentPart(image_url=_image_part_to_proto(value))


def _content_part_from_proto(value: pb.ContentPart) -> models.ContentPart:
    if value.HasField("text"):
        return _text_part_from_proto(_present(value, "text"))
    if value.HasField("image_url"):
        return _image_part_from_proto(_present(value, "image_url"))
    raise ValueError("ContentPart holds none of text, image_url")


def _content_parts_to_proto(value: list[models.ContentPart]) -> pb.ContentParts:
    return pb.ContentParts(parts=[_content_part_to_proto(item) for item in value])


def _content_parts_from_proto(value: pb.ContentParts) -> list[models.ContentPart]:
    return [_content_part_from_proto(item) for item in value.parts]


def _content_to_proto(value: models.Content) -> pb.Content:
    if isinstance(value, str):
        return pb.Content(text=value)
    return pb.Content(parts=_content_parts_to_proto(value))


def _content_from_proto(value: pb.Content) -> models.Content:
    if value.HasField("text"):
        return value.text
    if value.HasField("parts"):
        return _content_parts_from_proto(_present(value, "parts"))
    raise ValueError("Content holds none of text, parts")


def _message_to_proto(value: models.Message) -> pb.Message:
    return pb.Message(
        role=value.role,
        content=_content_to_proto(value.content),
        timestamp=value.timestamp,
    )


def _message_from_proto(value: pb.Message) -> models.Message:
    return models.Message(
        role=value.role,
        content=_content_from_proto(_present(value, "content")),
        timestamp=value.timestamp if value.HasField("timestamp") else None,
    )


def _add_request_to_proto(value: models.AddRequest) -> pb.AddRequest:
    return pb.AddRequest(
        request_id=value.request_id,
        user_id=value.user_id,
        session_id=value.session_id,
        messages=[_message_to_proto(item) for item in value.messages],
    )


def _add_request_from_proto(value: pb.AddRequest) -> models.AddRequest:
    return models.AddRequest(
        request_id=value.request_id,
        user_id=value.user_id,
        session_id=value.session_id,
        messages=[_message_from_proto(item) for item in value.messages],
    )


def _add_response_to_proto(value: models.AddResponse) -> pb.AddResponse:
    return pb.AddResponse(
        success=value.success,
        request_id=value.request_id,
        user_id=value.user_id,
        session_id=value.session_id,
    )


def _add_response_from_proto(value: pb.AddResponse) -> models.AddResponse:
    return models.AddResponse(
        success=_true(value.success),
        request_id=value.request_id,
        user_id=value.user_id,
        session_id=value.session_id,
    )


def _search_request_to_proto(value: models.SearchRequest) -> pb.SearchRequest:
    return pb.SearchRequest(
        query=_content_to_proto(value.query),
        options=value.options,
        user_id=value.user_id,
        top_k=value.top_k,
    )


def _search_request_from_proto(value: pb.SearchRequest) -> models.SearchRequest:
    return models.SearchRequest(
        query=_content_from_proto(_present(value, "query")),
        options=list(value.options),
        user_id=value.user_id,
        top_k=value.top_k,
    )


def _memory_to_proto(value: models.Memory) -> pb.Memory:
    return pb.Memory(
        id=value.id,
        content=_content_to_proto(value.content),
        score=value.score,
        created_at=value.created_at,
    )


def _memory_from_proto(value: pb.Memory) -> models.Memory:
    return models.Memory(
        id=value.id,
        content=_content_from_proto(_present(value, "content")),
        score=value.score if value.HasField("score") else None,
        created_at=value.created_at if value.HasField("created_at") else None,
    )


def _search_response_to_proto(value: models.SearchResponse) -> pb.SearchResponse:
    return pb.SearchResponse(
        data=[_memory_to_proto(item) for item in value.data],
    )


def _search_response_from_proto(value: pb.SearchResponse) -> models.SearchResponse:
    return models.SearchResponse(
        data=[_memory_from_proto(item) for item in value.data],
    )


def _health_response_to_proto(value: models.HealthResponse) -> pb.HealthResponse:
    return pb.HealthResponse(
        status=value.status,
    )


def _health_response_from_proto(value: pb.HealthResponse) -> models.HealthResponse:
    return models.HealthResponse(
        status=value.status if value.HasField("status") else None,
    )


def _error_detail_to_proto(value: models.ErrorDetail) -> pb.ErrorDetail:
    return pb.ErrorDetail(
        reason=value.reason,
    )


def _error_detail_from_proto(value: pb.ErrorDetail) -> models.ErrorDetail:
    return models.ErrorDetail(
        reason=value.reason,
    )


def _error_response_to_proto(value: models.ErrorResponse) -> pb.ErrorResponse:
    return pb.ErrorResponse(
        detail=_error_detail_to_proto(value.detail),
    )


def _error_response_from_proto(value: pb.ErrorResponse) -> models.ErrorResponse:
    return models.ErrorResponse(
        detail=_error_detail_from_proto(_present(value, "detail")),
    )


_TO_PROTO: dict[type, Callable[[Any], Any]] = {
    models.TextPart: _text_part_to_proto,
    models.ImageURL: _image_url_to_proto,
    models.ImagePart: _image_part_to_proto,
    models.Message: _message_to_proto,
    models.AddRequest: _add_request_to_proto,
    models.AddResponse: _add_response_to_proto,
    models.SearchRequest: _search_request_to_proto,
    models.Memory: _memory_to_proto,
    models.SearchResponse: _search_response_to_proto,
    models.HealthResponse: _health_response_to_proto,
    models.ErrorDetail: _error_detail_to_proto,
    models.ErrorResponse: _error_response_to_proto,
}
_FROM_PROTO: dict[type, Callable[[Any], Any]] = {
    pb.TextPart: _text_part_from_proto,
    pb.ImageURL: _image_url_from_proto,
    pb.ImagePart: _image_part_from_proto,
    pb.Message: _message_from_proto,
    pb.AddRequest: _add_request_from_proto,
    pb.AddResponse: _add_response_from_proto,
    pb.SearchRequest: _search_request_from_proto,
    pb.Memory: _memory_from_proto,
    pb.SearchResponse: _search_response_from_proto,
    pb.HealthResponse: _health_response_from_proto,
    pb.ErrorDetail: _error_detail_from_proto,
    pb.ErrorResponse: _error_response_from_proto,
}
