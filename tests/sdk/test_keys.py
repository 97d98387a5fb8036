"""Keys: three schemes, checked before the body, never leaked."""

import http.client
import json
import socket

import pytest

from aml_sdk import Misconfigured, Settings
from tests.sdk.conftest import add_body
from tests.sdk.systems import Recorded

KEY = "s3cret-key"
HEADERS = {
    "bearer": {"Authorization": f"Bearer {KEY}"},
    "token": {"Authorization": f"Token {KEY}"},
    "x-api-key": {"X-Api-Key": KEY},
}


@pytest.mark.parametrize("scheme", HEADERS)
def test_only_the_declared_scheme_opens(serve, scheme):
    server = serve(Recorded(), auth=scheme, key=KEY)
    for sent, headers in HEADERS.items():
        expected = 200 if sent == scheme else 401
        query = {"query": "q", "user_id": "u", "top_k": 1}
        for path, body in (("/add", add_body("x")), ("/search", query)):
            assert server.post(path, body, headers=headers).status_code == expected


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"Authorization": ""},
        {"Authorization": KEY},
        {"Authorization": "Bearer"},
        {"Authorization": f"Bearer {KEY}x"},
        {"Authorization": f"Bearer {KEY[:-1]}"},
        {"Authorization": f"Bearer {KEY.upper()}"},
        {"Authorization": b"Bearer \xff\xfe"},
        {"Authorization": "Bearer ключ".encode()},
        [("Authorization", f"Bearer {KEY}"), ("Authorization", "Bearer other")],
    ],
)
def test_any_other_key_is_401(serve, headers):
    system = Recorded()
    server = serve(system, auth="bearer", key=KEY)
    answer = server.post("/add", add_body("x"), headers=headers)
    assert answer.status_code == 401
    assert answer.headers["WWW-Authenticate"] == "Bearer"
    assert KEY not in answer.text
    assert list(answer.json()["detail"]) == ["reason"]
    assert system.calls == []


@pytest.mark.parametrize("encoding", ["utf-8", "latin-1"])
def test_a_key_that_is_no_ascii_is_taken_in_both_encodings(serve, encoding):
    server = serve(Recorded(), auth="x-api-key", key="clé")
    answer = server.post("/add", add_body("x"), headers={"X-Api-Key": "clé".encode(encoding)})
    assert answer.status_code == 200
    assert server.post("/add", add_body("x"), headers={"X-Api-Key": "cl?"}).status_code == 401


def test_the_scheme_name_is_case_insensitive(serve):
    server = serve(Recorded(), auth="bearer", key=KEY)
    headers = {"authorization": f"bearer  {KEY}"}
    assert server.post("/add", add_body("x"), headers=headers).status_code == 200


def test_health_and_head_are_open(serve):
    server = serve(Recorded(), auth="bearer", key=KEY)
    assert server.http.get("/health").status_code == 200
    assert server.http.head("/add").status_code == 200


def test_the_key_is_checked_before_the_body_arrives(serve):
    server = serve(Recorded(), auth="bearer", key=KEY)
    with socket.create_connection(server.address, timeout=20) as raw:
        raw.sendall(b"POST /add HTTP/1.1\r\nHost: x\r\nContent-Length: 40000000\r\n\r\n")
        assert raw.recv(4096).startswith(b"HTTP/1.1 401")


def test_the_connection_stays_usable_after_401(serve):
    server = serve(Recorded(), auth="bearer", key=KEY)
    connection = http.client.HTTPConnection(*server.address, timeout=20)
    connection.connect()
    first = connection.sock
    for size in (10, 500_000):
        connection.request("POST", "/add", b"x" * size)
        answer = connection.getresponse()
        assert answer.status == 401
        answer.read()
        connection.request("POST", "/add", json.dumps(add_body("x")), HEADERS["bearer"])
        answer = connection.getresponse()
        assert answer.status == 200
        answer.read()
    assert connection.sock is first
    connection.close()


@pytest.mark.parametrize("key", [None, "", " \n"])
def test_a_scheme_without_a_key_is_refused(key):
    with pytest.raises(Misconfigured, match="key is empty"):
        Settings(auth="bearer", key=key)


def test_an_unknown_scheme_is_refused():
    with pytest.raises(Misconfigured, match="basic"):
        Settings(auth="basic", key="k")


def test_the_key_is_not_shown():
    assert KEY not in repr(Settings(auth="bearer", key=KEY))
