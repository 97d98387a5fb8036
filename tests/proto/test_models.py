"""What the models take and refuse, clause by clause."""

from __future__ import annotations

import json
from typing import Any

import pytest
from pydantic import BaseModel, ValidationError

from aml_sdk._gen.models import (
    AddRequest,
    AddResponse,
    ErrorResponse,
    ImagePart,
    ImageURL,
    Memory,
    Message,
    SearchRequest,
    SearchResponse,
    TextPart,
)

IMAGE = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AA=="}}


def add(**changes: Any) -> dict[str, Any]:
    return {
        "request_id": "r",
        "user_id": "u",
        "session_id": "s",
        "messages": [{"role": "user", "content": "hello"}],
    } | changes


def turn(**changes: Any) -> dict[str, Any]:
    return add(messages=[{"role": "user", "content": "hello"} | changes])


def search(**changes: Any) -> dict[str, Any]:
    return {"query": "hello", "user_id": "u", "top_k": 100} | changes


def memory(**changes: Any) -> dict[str, Any]:
    return {"id": "m", "content": "hello"} | changes


def added(**changes: Any) -> dict[str, Any]:
    return {"success": True, "request_id": "r", "user_id": "u", "session_id": "s"} | changes


def without(body: dict[str, Any], key: str) -> dict[str, Any]:
    return {name: value for name, value in body.items() if name != key}


def read(model: type[BaseModel], body: Any) -> Any:
    return model.model_validate_json(body if isinstance(body, (str, bytes)) else json.dumps(body))


TAKEN = {
    "A1 opaque request_id": (
        AddRequest,
        add(request_id="eval:run_abc:locomo_refined:conv-0:chunk-0"),
    ),
    "A1 spaces and CJK": (AddRequest, add(request_id=" 成都 / ..\\ %00 ")),
    "A2 one NUL as user_id": (AddRequest, add(user_id="\x00")),
    "A5 any role": (AddRequest, turn(role="Björn, the moderator")),
    "A6 text parts": (AddRequest, turn(content=[{"type": "text", "text": "a"}])),
    "A6 parts in order": (AddRequest, turn(content=[{"type": "text", "text": "a"}, IMAGE])),
    "A7 zero": (AddRequest, turn(timestamp=0)),
    "A7 minus zero": (AddRequest, turn(timestamp=-0.0)),
    "A7 past 2100": (AddRequest, turn(timestamp=4102444800001)),
    "A7 largest": (AddRequest, turn(timestamp=2**63 - 1)),
    "A7 integral float": (AddRequest, turn(timestamp=1704067200000.0)),
    "A7 fraction": (AddRequest, turn(timestamp=1.9)),
    "A7 exponent": (AddRequest, json.dumps(turn(timestamp=7)).replace("7", "1.7e12")),
    "A8 null timestamp is absent": (AddRequest, turn(timestamp=None)),
    "A8 unknown key above": (AddRequest, add(metadata={"a": [1]}, async_mode=True)),
    "A8 unknown key in a message": (AddRequest, turn(name="Ann")),
    "A8 unknown key in a part": (AddRequest, turn(content=[{"type": "text", "text": "", "x": 1}])),
    "A8 unknown key in an image": (
        AddRequest,
        turn(content=[{"type": "image_url", "image_url": {"url": "x", "detail": "low"}}]),
    ),
    "A8 a key of another case is unknown": (AddRequest, add(userId="other")),
    "A9 empty string": (AddRequest, turn(content="")),
    "A9 empty list": (AddRequest, turn(content=[])),
    "A9 empty part": (AddRequest, turn(content=[{"type": "text", "text": ""}])),
    "A10 NUL": (AddRequest, turn(content="a\x00b")),
    "A10 a pair of surrogates": (
        AddRequest,
        json.dumps(turn(content="@")).replace("@", "\\ud83d\\udc1d"),
    ),
    "S1 blank query": (SearchRequest, search(query="  ")),
    "S1 parts": (SearchRequest, search(query=[{"type": "text", "text": "a"}, IMAGE])),
    "S2 options": (SearchRequest, search(options=["A. Oslo", ""])),
    "S2 null": (SearchRequest, search(options=None)),
    "S2 empty": (SearchRequest, search(options=[])),
    "S3 one": (SearchRequest, search(top_k=1)),
    "S3 integral float": (SearchRequest, search(top_k=87.0)),
    "S3 huge": (SearchRequest, search(top_k=10**30)),
    "S3 huge float": (SearchRequest, search(top_k=1e30)),
    "S4 what is not sent is unknown": (SearchRequest, search(session_id=5, filters=None)),
    "A11 echo": (AddResponse, added()),
    "A11 extra key": (AddResponse, added(stored=1)),
    "S5 nothing": (SearchResponse, {"data": []}),
    "S8 integer score": (Memory, memory(score=1)),
    "S8 null score": (Memory, memory(score=None)),
    "S7 parts": (Memory, memory(content=[IMAGE])),
    "F4": (ErrorResponse, {"detail": {"reason": ""}}),
}
REFUSED = {
    **{f"{key} missing": (AddRequest, without(add(), key)) for key in add()},
    **{f"{key} null": (AddRequest, add(**{key: None})) for key in add()},
    **{f"{key} number": (AddRequest, add(**{key: 5})) for key in add()},
    **{
        f"{key} empty": (AddRequest, add(**{key: ""}))
        for key in ("request_id", "user_id", "session_id")
    },
    **{f"{key} missing in Search": (SearchRequest, without(search(), key)) for key in search()},
    **{f"{key} null in Search": (SearchRequest, search(**{key: None})) for key in search()},
    "A4 no messages": (AddRequest, add(messages=[])),
    "A4 an object": (AddRequest, add(messages={"role": "user", "content": "a"})),
    "A4 a null message": (AddRequest, add(messages=[None])),
    "A4 no role": (AddRequest, add(messages=[{"content": "a"}])),
    "A4 no content": (AddRequest, add(messages=[{"role": "user"}])),
    "A5 empty role": (AddRequest, turn(role="")),
    "A6 null content": (AddRequest, turn(content=None)),
    "A6 a number": (AddRequest, turn(content=5)),
    "A6 an object": (AddRequest, turn(content={"type": "text", "text": "a"})),
    "A6 strings for parts": (AddRequest, turn(content=["a"])),
    "A6 unknown part": (AddRequest, turn(content=[{"type": "input_audio", "input_audio": {}}])),
    "A6 no type": (AddRequest, turn(content=[{"text": "a"}])),
    "A6 type of another case": (AddRequest, turn(content=[{"type": "Text", "text": "a"}])),
    "A6 text missing": (AddRequest, turn(content=[{"type": "text"}])),
    "A6 one bad part": (AddRequest, turn(content=[{"type": "text", "text": "a"}, {"type": "x"}])),
    "M1 url as a string": (AddRequest, turn(content=[{"type": "image_url", "image_url": "data:"}])),
    "M1 no url": (AddRequest, turn(content=[{"type": "image_url", "image_url": {}}])),
    "A7 negative": (AddRequest, turn(timestamp=-1)),
    "A7 a little below zero": (AddRequest, turn(timestamp=-0.5)),
    "A7 2^63": (AddRequest, turn(timestamp=2**63)),
    "A7 1e30": (AddRequest, turn(timestamp=1e30)),
    "A7 10^400": (AddRequest, turn(timestamp=10**400)),
    "A7 string": (AddRequest, turn(timestamp="1704067200000")),
    "A7 ISO": (AddRequest, turn(timestamp="2024-01-01T00:00:00Z")),
    "A7 boolean": (AddRequest, turn(timestamp=True)),
    "A7 list": (AddRequest, turn(timestamp=[1])),
    "A7 NaN": (AddRequest, turn(timestamp=float("nan"))),
    "A7 infinity": (AddRequest, turn(timestamp=float("inf"))),
    "A7 overflow": (AddRequest, json.dumps(turn(timestamp=7)).replace("7", "1e400")),
    "A10 lone surrogate": (AddRequest, turn(content="\ud800")),
    "A10 lone surrogate in an id": (AddRequest, add(user_id="a\udfff")),
    "A10 lone surrogate in a part": (
        AddRequest,
        turn(content=[{"type": "text", "text": "\ud83d"}]),
    ),
    "A10 lone surrogate in an unknown key": (AddRequest, add(x="\ud800")),
    "not UTF-8": (AddRequest, b'{"user_id": "\xff"}'),
    "byte order mark": (AddRequest, b"\xef\xbb\xbf" + json.dumps(add()).encode()),
    "truncated": (AddRequest, json.dumps(add())[:-1]),
    "two values": (AddRequest, json.dumps(add()) * 2),
    "empty": (AddRequest, ""),
    "a list": (AddRequest, [add()]),
    "null": (AddRequest, "null"),
    "deep": (AddRequest, '{"x":' + "[" * 100_000 + "]" * 100_000 + "}"),
    "deep in content": (
        AddRequest,
        json.dumps(turn(content="@")).replace('"@"', "[" * 9999 + "]" * 9999),
    ),
    "S1 empty query": (SearchRequest, search(query="")),
    "S1 no parts": (SearchRequest, search(query=[])),
    "S1 number": (SearchRequest, search(query=5)),
    "S2 string": (SearchRequest, search(options="A")),
    "S2 numbers": (SearchRequest, search(options=[1])),
    "S2 null inside": (SearchRequest, search(options=[None])),
    "S3 zero": (SearchRequest, search(top_k=0)),
    "S3 negative": (SearchRequest, search(top_k=-1)),
    "S3 negative float": (SearchRequest, search(top_k=-3.0)),
    "S3 fraction": (SearchRequest, search(top_k=1.5)),
    "S3 string": (SearchRequest, search(top_k="100")),
    "S3 boolean": (SearchRequest, search(top_k=True)),
    "S3 NaN": (SearchRequest, search(top_k=float("nan"))),
    "S3 infinity": (SearchRequest, search(top_k=float("inf"))),
    "A11 false": (AddResponse, added(success=False)),
    "A11 string": (AddResponse, added(success="true")),
    "A11 one": (AddResponse, added(success=1)),
    "A11 one as a float": (AddResponse, added(success=1.0)),
    "A11 missing": (AddResponse, without(added(), "success")),
    "A11 id missing": (AddResponse, without(added(), "request_id")),
    "A11 empty id": (AddResponse, added(request_id="")),
    "S5 null": (SearchResponse, {"data": None}),
    "S5 bare list": (SearchResponse, []),
    "S5 results": (SearchResponse, {"results": []}),
    "S10 one invalid item": (SearchResponse, {"data": [memory(), memory(id="")]}),
    "S6 no id": (Memory, without(memory(), "id")),
    "S6 number": (Memory, memory(id=5)),
    "S6 empty": (Memory, memory(id="")),
    "S7 empty": (Memory, memory(content="")),
    "S7 no parts": (Memory, memory(content=[])),
    "S7 null": (Memory, memory(content=None)),
    "S8 string": (Memory, memory(score="0.5")),
    "S8 boolean": (Memory, memory(score=True)),
    "S8 NaN": (Memory, memory(score=float("nan"))),
    "S8 infinity": (Memory, memory(score=float("-inf"))),
    "S9 number": (Memory, memory(created_at=1704067200000)),
    "F4 a string": (ErrorResponse, {"detail": "no"}),
}


@pytest.mark.parametrize("case", TAKEN)
def test_taken(case: str):
    model, body = TAKEN[case]
    assert isinstance(read(model, body), model)


@pytest.mark.parametrize("case", REFUSED)
def test_refused(case: str):
    model, body = REFUSED[case]
    with pytest.raises(ValidationError):
        read(model, body)


@pytest.mark.parametrize(
    ("sent", "kept"),
    [(1.9, 1), (1.0, 1), (-0.0, 0), (1704067200000.75, 1704067200000), (2**63 - 1, 2**63 - 1)],
)
def test_timestamps_are_floored_integers(sent: float, kept: int):
    timestamp = read(AddRequest, turn(timestamp=sent)).messages[0].timestamp
    assert timestamp == kept
    assert type(timestamp) is int


@pytest.mark.parametrize(
    ("sent", "kept"), [(1, 1), (87.0, 87), (2**31, 2**31 - 1), (1e30, 2**31 - 1)]
)
def test_top_k_is_an_integer_that_fits_everywhere(sent: float, kept: int):
    top_k = read(SearchRequest, search(top_k=sent)).top_k
    assert top_k == kept
    assert type(top_k) is int


def test_equal_requests_are_equal_however_they_are_written():
    plain = read(AddRequest, turn(timestamp=1000))
    other = dict(reversed(turn(timestamp=1000.0, extra=1).items())) | {"more": None}
    assert read(AddRequest, other).model_dump_json() == plain.model_dump_json()
    bare = read(SearchRequest, search())
    assert read(SearchRequest, search(options=[])) == bare
    assert read(SearchRequest, search(options=None)) == bare
    assert bare.options is None


@pytest.mark.parametrize("text", ["a\x00b", "é", "e\u0301", "\u00a0 x\t", "🐝", "成都", "\u2028"])
def test_text_is_kept_code_point_for_code_point(text: str):
    body = add(request_id=text, messages=[{"role": "user", "content": text}])
    request = read(AddRequest, body)
    assert json.loads(request.model_dump_json(exclude_none=True)) == body


def test_what_is_absent_is_not_written():
    assert json.loads(Memory(id="m", content="c").model_dump_json(exclude_none=True)) == memory(
        content="c"
    )
    message = Message(role="user", content=[TextPart(type="text", text="")])
    assert "timestamp" not in message.model_dump_json(exclude_none=True)


def test_builders_get_the_same_checks_as_the_wire():
    with pytest.raises(ValidationError):
        Memory(id="m", content="c", score=float("nan"))
    with pytest.raises(ValidationError):
        Memory(id="m", content="\ud800")
    with pytest.raises(ValidationError):
        SearchResponse(data=[{"id": "m"}])
    part = ImagePart(type="image_url", image_url=ImageURL(url="data:image/png;base64,AA=="))
    assert Memory(id="m", content=[part]).content == [part]


def test_requests_cannot_be_changed():
    request = read(AddRequest, add())
    with pytest.raises(ValidationError):
        request.user_id = "other"
