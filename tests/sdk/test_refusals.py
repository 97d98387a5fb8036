"""What is refused, with which status, in which words, and on a connection that stays usable."""

import asyncio
import http.client
import json
import socket

import pytest

from aml_sdk import Unavailable
from tests.sdk.conftest import add_body
from tests.sdk.systems import Async, Recorded

SECRET = "xyzzy-payload"


@pytest.fixture
def system():
    return Recorded()


@pytest.fixture
def server(serve, system):
    return serve(system, max_body=100_000)


def reason(answer):
    body = answer.json()
    assert list(body) == ["detail"]
    assert list(body["detail"]) == ["reason"]
    return body["detail"]["reason"]


@pytest.mark.parametrize(
    "body",
    [b"", b"{", b"not json", b'{"a": NaN}', b"\xff\xfe{}", b'{"a": "\xff"}', b"[" * 50_000],
)
@pytest.mark.parametrize("path", ["/add", "/search"])
def test_what_is_no_json_is_400(server, path, body):
    answer = server.post(path, body)
    assert answer.status_code == (422 if body == b'{"a": NaN}' else 400)
    assert reason(answer)


def test_nan_in_an_unknown_key_is_no_json(server):
    body = json.dumps(add_body("NaN is fine in text")).encode()
    assert server.post("/add", body).status_code == 200
    assert server.post("/add", body[:-1] + b', "extra": NaN}').status_code == 400
    assert server.post("/add", body[:-1] + b', "extra": [-Infinity]}').status_code == 400


@pytest.mark.parametrize("body", [b"[]", b"null", b"3", b'"text"'])
@pytest.mark.parametrize("path", ["/add", "/search"])
def test_json_that_is_no_object_is_422(server, path, body):
    answer = server.post(path, body)
    assert answer.status_code == 422
    assert reason(answer) == "the body is no JSON object"


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"request_id": ""}, "request_id"),
        ({"user_id": None}, "user_id"),
        ({"session_id": 7}, "session_id"),
        ({"messages": []}, "messages"),
        ({"messages": [{"role": "", "content": "x"}]}, "messages.0.role"),
        ({"messages": [{"role": "user", "content": 5}]}, "messages.0.content"),
        ({"messages": [{"role": "user", "content": [{"type": SECRET}]}]}, "messages.0.content.0"),
        ({"messages": [{"role": "user", "content": "x", "timestamp": "1"}]}, "timestamp"),
        ({"messages": [{"role": "user", "content": "x", "timestamp": True}]}, "timestamp"),
        ({"messages": [{"role": "user", "content": "x", "timestamp": 2**63}]}, "timestamp"),
        ({"messages": [{"role": "user", "content": "x", "timestamp": -1}]}, "timestamp"),
    ],
)
def test_a_bad_add_is_422_names_the_field_and_stores_nothing(server, system, change, named):
    body = add_body(SECRET) | change
    answer = server.post("/add", body)
    assert answer.status_code == 422
    assert named in reason(answer)
    assert SECRET not in answer.text
    assert system.calls == []


@pytest.mark.parametrize("top_k", [0, -1, 1.5, "100", True, None, float("nan")])
def test_a_bad_top_k_is_refused(server, top_k):
    answer = server.search(SECRET, top_k=top_k)
    assert answer.status_code in (400, 422)
    assert SECRET not in answer.text


def test_integral_and_huge_top_k_are_taken(server):
    assert server.search(top_k=87.0).status_code == 200
    assert server.search(top_k=10**12).status_code == 200


def test_a_lone_surrogate_is_422_everywhere(server, system):
    for body in (
        add_body("a \ud800 b"),
        add_body("x", user_id="\udfff"),
        add_body("x", z="\ud800"),
    ):
        answer = server.post("/add", body)
        assert answer.status_code == 422
        assert "surrogate" in reason(answer)
    assert system.calls == []


def test_an_id_given_twice_is_refused(server, system):
    body = json.dumps(add_body("x")).encode()
    for key in ("user_id", "request_id", "session_id"):
        doubled = body[:-1] + b', "%s": "other"}' % key.encode()
        answer = server.post("/add", doubled)
        assert answer.status_code == 422
        assert key in reason(answer)
    asked = b'{"query": "x", "user_id": "u", "top_k": 1, "user_id": "other"}'
    assert "user_id" in reason(server.post("/search", asked))
    nested = body[:-1] + b', "metadata": {"user_id": "other"}}'
    assert server.post("/add", nested).status_code == 200


def test_an_encoded_body_is_415(server):
    answer = server.post("/add", b"\x1f\x8b", headers={"Content-Encoding": "gzip"})
    assert answer.status_code == 415
    assert "Content-Encoding" in reason(answer)


def test_a_body_above_the_limit_is_413_declared_or_streamed(server, system):
    big = json.dumps(add_body("x" * 100_000)).encode()
    assert server.post("/add", big).status_code == 413
    assert server.http.post("/add", content=iter([big[:60_000], big[60_000:]])).status_code == 413
    assert system.calls == []


def test_a_failure_is_answered_without_its_text(server, system):
    system.failures = [RuntimeError(SECRET)]
    answer = server.add("x")
    assert answer.status_code == 500
    assert reason(answer) == "the memory system failed"


@pytest.mark.parametrize("system_kind", [Recorded, Async])
@pytest.mark.parametrize(
    "kind", [SystemExit, KeyboardInterrupt, asyncio.CancelledError, StopIteration]
)
def test_a_system_cannot_end_the_server(serve, system_kind, kind):
    system = system_kind()
    server = serve(system)
    system.failures = [kind()]
    assert server.add("x").status_code == 500
    assert server.add("x").status_code == 200
    assert system.texts() == ["x"]


def test_a_search_that_runs_out_of_an_iterator_is_a_failure_at_once(serve):
    class Empty(Recorded):
        def search(self, request):
            return [next(iter(self.stored.get(request.user_id, [])))]

    assert serve(Empty()).search().status_code == 500


def test_unavailable_is_503_with_its_words_and_when_to_come_again(server, system):
    system.failures = [Unavailable("the embedder is down")]
    answer = server.add("x")
    assert answer.status_code == 503
    assert 1 <= int(answer.headers["Retry-After"]) <= 60
    assert reason(answer) == "the embedder is down"


REFUSED = {
    "404": ("POST", "/nowhere", b"{}", {}),
    "405": ("PUT", "/add", b"{}", {}),
    "400": ("POST", "/add", b"{", {}),
    "422": ("POST", "/add", b"{}", {}),
    "415": ("POST", "/add", b"zz" * 70_000, {"Content-Encoding": "gzip"}),
    "413": ("POST", "/add", b"x" * 300_000, {}),
}


@pytest.mark.parametrize("status", REFUSED)
def test_the_connection_stays_usable_after(server, status):
    connection = http.client.HTTPConnection(*server.address, timeout=20)
    connection.connect()
    first = connection.sock
    method, path, body, headers = REFUSED[status]
    connection.request(method, path, body, headers)
    answer = connection.getresponse()
    assert answer.status == int(status)
    answer.read()
    connection.request("POST", "/add", json.dumps(add_body("x")))
    assert connection.getresponse().status == 200
    assert connection.sock is first, "the server closed the connection"
    connection.close()


def test_a_refusal_before_100_continue_closes(server):
    """Whether the body still comes cannot be known: the next bytes must not be taken for it."""
    with socket.create_connection(server.address, timeout=20) as raw:
        raw.sendall(
            b"POST /add HTTP/1.1\r\nHost: x\r\nContent-Length: 200000\r\n"
            b"Expect: 100-continue\r\n\r\n"
        )
        received = b""
        while part := raw.recv(4096):
            received += part
    assert received.startswith(b"HTTP/1.1 413")
    assert b"connection: close" in received.lower()


def test_a_body_that_ends_early_stores_nothing(server, system):
    body = json.dumps(add_body("x")).encode()
    with socket.create_connection(server.address, timeout=20) as raw:
        head = f"POST /add HTTP/1.1\r\nHost: x\r\nContent-Length: {len(body) + 1}\r\n\r\n"
        raw.sendall(head.encode() + body)
    assert server.add("y", request_id="later").status_code == 200
    assert system.texts() == ["y"]


def test_a_body_that_never_comes_is_408(serve):
    server = serve(Recorded(), body_timeout=0.2)
    with socket.create_connection(server.address, timeout=20) as raw:
        raw.sendall(b"POST /add HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\n{")
        assert raw.recv(4096).startswith(b"HTTP/1.1 408")
