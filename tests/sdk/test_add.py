"""What an Add accepts, and what it answers."""

import json
import socket

import pytest
from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from aml_sdk._gen.router import document_bytes
from tests.sdk.conftest import add_body
from tests.sdk.systems import Async, Recorded


@pytest.fixture(params=[Recorded, Async])
def system(request):
    return request.param()


@pytest.fixture
def server(serve, system):
    return serve(system)


@pytest.mark.parametrize(
    "odd",
    [
        "eval:run_abc:locomo_refined:conv-0:chunk-0",
        " padded ",
        "e\u0301 \u00e9 \u00a0",
        "用户/😀",
        'quote " back \\ slash',
        "nul \x00 tab \t",
        "x" * 3000,
    ],
)
def test_ids_come_back_byte_for_byte(server, odd):
    answer = server.add("text", request_id=odd, user_id=odd, session_id=odd)
    assert answer.status_code == 200
    assert answer.json() == {
        "success": True,
        "request_id": odd,
        "user_id": odd,
        "session_id": odd,
    }


def test_an_add_is_found_at_once(server):
    assert server.add("the kiln is in the shed").status_code == 200
    assert server.contents() == ["the kiln is in the shed"]


def test_blank_turns_are_skipped_before_the_system_sees_them(server, system):
    answer = server.add("one", "", " \n\t", [], [{"type": "text", "text": " "}], "two")
    assert answer.status_code == 200
    assert system.texts() == ["one", "two"]


def test_an_add_of_blank_turns_only_succeeds_and_stores_nothing(server, system):
    assert server.add(" ", "").status_code == 200
    assert server.add(" ", "").status_code == 200
    assert system.calls == []


def test_text_is_kept_code_point_for_code_point(server, system):
    text = " \x00 a\u0301 漢字 😀\r\n\u2028 "
    assert server.add(text).status_code == 200
    assert system.texts() == [text]


@pytest.mark.parametrize("timestamp", [0, 86400000, 1704067200000.0, 253402214400000, 2**63 - 1])
def test_timestamps_of_any_size_are_taken(server, system, timestamp):
    message = {"role": "user", "content": "dated", "timestamp": timestamp}
    assert server.add(messages=[message]).status_code == 200
    assert system.stored["u"][0][1].timestamp == int(timestamp)


def test_unknown_keys_are_ignored_at_every_level(server):
    message = {"role": "tool", "content": "text", "name": None, "userId": "other"}
    body = add_body(messages=[message], metadata={"user_id": "other"}, userId="other")
    assert server.post("/add", body).json()["user_id"] == "u"
    assert server.contents(user_id="other") == []


@pytest.mark.parametrize("content_type", ["text/plain", "application/x-www-form-urlencoded", None])
def test_the_content_type_is_not_looked_at(server, content_type):
    headers = {"Content-Type": content_type} if content_type else {}
    assert server.post("/add", add_body("text"), headers=headers).status_code == 200


def test_a_byte_order_mark_is_tolerated(server):
    body = b"\xef\xbb\xbf" + json.dumps(add_body("text")).encode()
    assert server.post("/add", body).status_code == 200


def test_a_body_in_chunks_is_read_to_its_end(server, system):
    body = json.dumps(add_body("text")).encode()
    halves = iter([body[:20], body[20:]])
    assert server.http.post("/add", content=halves).status_code == 200
    assert system.texts() == ["text"]


def test_head_answers_200_and_other_methods_405(server):
    for path in ("/add", "/search"):
        assert server.http.head(path).status_code == 200
        for method in ("GET", "PUT", "DELETE", "PATCH"):
            answer = server.http.request(method, path)
            assert answer.status_code == 405
            assert answer.json() == {"detail": {"reason": "method not allowed"}}


def test_no_path_redirects(server):
    answer = server.post("/add/", add_body("text"))
    assert answer.status_code == 404
    assert answer.json() == {"detail": {"reason": "not found"}}


def test_the_committed_document_is_served(server):
    assert server.http.get("/openapi.json").content == document_bytes()


def test_expect_100_continue_is_answered(server):
    body = json.dumps(add_body("x")).encode()
    with socket.create_connection(server.address, timeout=20) as raw:
        head = f"POST /add HTTP/1.1\r\nHost: x\r\nContent-Length: {len(body)}\r\n"
        raw.sendall(f"{head}Expect: 100-continue\r\n\r\n".encode())
        assert raw.recv(4096).startswith(b"HTTP/1.1 100")
        raw.sendall(body)
        assert raw.recv(4096).startswith(b"HTTP/1.1 200")


def test_no_request_is_reported_where_a_library_traces(serve, monkeypatch):
    spans = InMemorySpanExporter()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(spans))
    monkeypatch.setattr(trace, "get_tracer_provider", lambda: provider)
    assert serve(Recorded()).add("text").status_code == 200
    assert spans.get_finished_spans() == ()
