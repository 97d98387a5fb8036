"""From the bytes of a request to the validated model: tolerant where the contract is."""

from __future__ import annotations

import codecs
import json
from typing import Any, NoReturn, TypeVar

from pydantic import BaseModel, ValidationError

from aml_sdk._gen.models import AddRequest, SearchRequest
from aml_sdk.server.problem import Problem

_Model = TypeVar("_Model", bound=BaseModel)

_IDS = (b'"user_id"', b'"request_id"', b'"session_id"')
_NOT_JSON = (b"NaN", b"Infinity")
_BEFORE_VALUES = frozenset({b" ", b"\t", b"\n", b"\r", b":", b",", b"[", b"-"})
_NAMES = frozenset(
    {
        *("request_id", "user_id", "session_id", "messages", "role", "content", "timestamp"),
        *("type", "text", "image_url", "url", "query", "options", "top_k"),
    }
)
# Pydantic's own words for these hold what was sent.
_REASONS = {
    "union_tag_invalid": "is no part type of the contract (text, image_url)",
    "union_tag_not_found": "has no part type (text, image_url)",
    "string_unicode": "holds a lone surrogate",
}
_SHOWN = 3


def read_add(body: bytes) -> AddRequest:
    """The Add (clauses A1-A10).

    Raises:
        Problem: 400 when the body is no JSON, 422 when it is no Add; fields are named.
    """
    return _read(AddRequest, body)


def read_search(body: bytes) -> SearchRequest:
    """The Search (clauses S1-S4).

    Raises:
        Problem: 400 when the body is no JSON, 422 when it is no Search; fields are named.
    """
    return _read(SearchRequest, body)


def _read(model: type[_Model], body: bytes) -> _Model:
    body = body.removeprefix(codecs.BOM_UTF8)
    try:
        made = model.model_validate_json(body)
    except ValidationError as error:
        _refuse(error, body)
    # The parser is lenient about two things. Looking closer costs a second parse, so only
    # where the bytes give a reason, which real requests hardly ever do.
    if any(body.count(key) > 1 for key in _IDS) or any(_token(word, body) for word in _NOT_JSON):
        _look_closer(body)
    return made


def _token(word: bytes, body: bytes) -> bool:
    """Whether the word may stand as a value: base64 holds ``NaN`` by chance, never after these."""
    at = body.find(word)
    while at != -1:
        if body[at - 1 : at] in _BEFORE_VALUES:
            return True
        at = body.find(word, at + 1)
    return False


def _look_closer(body: bytes) -> None:
    """Refuse NaN, and an id given twice: which of the two owns the data? (clause L2)."""

    def no_constant(_: str) -> NoReturn:
        raise Problem(400, "the body is no JSON: NaN and Infinity are not")

    def no_second_id(pairs: list[tuple[str, Any]]) -> None:
        names = [name for name, _ in pairs]
        for name in ("user_id", "request_id", "session_id"):
            if names.count(name) > 1:
                raise Problem(422, f"{name}: is given twice")

    _parse(body, parse_constant=no_constant, object_pairs_hook=no_second_id)


def _refuse(error: ValidationError, body: bytes) -> NoReturn:
    first = error.errors(include_url=False, include_context=False, include_input=False)[:_SHOWN]
    if first[0]["type"] == "json_invalid":
        words = first[0]["msg"].removeprefix("Invalid JSON: ")
        if ("surrogate" in words or "hex escape" in words) and _has_lone_surrogate(body):
            raise Problem(422, "a string holds a lone surrogate (clause A10)") from None
        raise Problem(400, f"the body is no JSON: {words}") from None
    if first[0]["type"] == "model_type" and not first[0]["loc"]:
        raise Problem(422, "the body is no JSON object") from None
    reasons = dict.fromkeys(
        f"{_path(item['loc'])}: {_REASONS.get(item['type'], item['msg'])}" for item in first
    )
    raise Problem(422, "; ".join(reasons)) from None


def _path(location: tuple[int | str, ...]) -> str:
    """``messages.3.content``: positions and the contract's names, no branches of unions."""
    return ".".join(str(step) for step in location if isinstance(step, int) or step in _NAMES)


def _has_lone_surrogate(body: bytes) -> bool:
    """Whether all that is wrong with the JSON text is half a surrogate pair."""
    try:
        parsed = _parse(body)
        json.dumps(parsed, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return True
    except Problem:
        return False
    return False


def _parse(body: bytes, **hooks: Any) -> Any:
    try:
        return json.loads(body.decode("utf-8"), **hooks)
    except (ValueError, RecursionError):
        raise Problem(400, "the body is no JSON") from None
