"""JSON to model to protobuf and back is the identity, for every message."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import BaseModel

from aml_sdk._gen import memory_pb2 as pb
from aml_sdk._gen import models
from aml_sdk._gen.convert import from_proto, to_proto
from tests.proto.values import CANONICAL, steady

BODIES = {
    name
    for name, model in vars(models).items()
    if isinstance(model, type) and issubclass(model, BaseModel) and name in models.__all__
}


def round_trip(name: str, body: Any) -> Any:
    model = getattr(models, name).model_validate_json(json.dumps(body))
    sent = to_proto(model)
    received = getattr(pb, name).FromString(sent.SerializeToString())
    back = from_proto(received)
    assert back == model
    return json.loads(back.model_dump_json(exclude_none=True))


def test_every_model_has_a_strategy_and_a_message():
    assert set(CANONICAL) == BODIES
    assert set(pb.DESCRIPTOR.message_types_by_name) - BODIES == {
        "Content",
        "ContentPart",
        "ContentParts",
        "HealthRequest",
    }


@pytest.mark.parametrize("name", sorted(CANONICAL))
def test_round_trip(name: str):
    @settings(steady, max_examples=60)
    @given(body=CANONICAL[name])
    def identity(body: Any) -> None:
        assert round_trip(name, body) == body

    identity()


@steady
@given(body=CANONICAL["SearchRequest"], empty=st.sampled_from([None, []]))
def test_null_and_empty_options_are_absent(body: Any, empty: Any):
    body.pop("options", None)
    assert round_trip("SearchRequest", body | {"options": empty}) == body


@pytest.mark.parametrize(
    "content",
    [
        "",
        "a\x00b",
        "成都🐝",
        [],
        [{"type": "text", "text": ""}],
        [{"type": "text", "text": "a"}] * 2,
    ],
)
def test_a_string_parts_and_no_parts_stay_apart(content: Any):
    body = {"role": "user", "content": content}
    assert round_trip("Message", body) == body


@pytest.mark.parametrize("timestamp", [0, 1, 2**53 + 1, 2**63 - 1])
def test_timestamps_lose_nothing_and_zero_is_not_absent(timestamp: int):
    body = {"role": "user", "content": "a", "timestamp": timestamp}
    assert round_trip("Message", body) == body


TEXT = pb.Content(text="a")


@pytest.mark.parametrize(
    "message",
    [
        pb.AddRequest(),
        pb.AddRequest(request_id="r", user_id="u", session_id="s"),
        pb.Message(role="user"),
        pb.Message(role="user", content=pb.Content()),
        pb.Message(role="user", content=TEXT, timestamp=-1),
        pb.Message(role="", content=TEXT),
        pb.ImagePart(),
        pb.AddResponse(request_id="r", user_id="u", session_id="s"),
        pb.SearchRequest(query=TEXT, user_id="u"),
        pb.SearchRequest(query=pb.Content(text=""), user_id="u", top_k=1),
        pb.Memory(id="m", content=TEXT, score=float("nan")),
        pb.Memory(id="m"),
        pb.ErrorResponse(),
    ],
    ids=lambda message: f"{type(message).__name__} {str(message).strip()}".replace("\n", " "),
)
def test_what_the_contract_does_not_allow_is_refused(message: Any):
    with pytest.raises(ValueError, match=r".+"):
        from_proto(message)


def test_strangers_are_refused():
    with pytest.raises(TypeError, match="dict"):
        to_proto({})
    with pytest.raises(TypeError, match="Content is not a message"):
        from_proto(TEXT)
