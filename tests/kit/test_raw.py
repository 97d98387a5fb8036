"""Raw connections: what is written, what is read, and what is said when it fails."""

import asyncio
from contextlib import asynccontextmanager

import pytest

from aml_contract.endpoint.auth import Auth, Scheme
from aml_contract.endpoint.raw import RawSettings, connect

KEY = "k-raw-5f3a"
CLOSED = "connection closed without a whole answer"
OK = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}"


@asynccontextmanager
async def speaking(*replies, hold=0.0):
    """A connection to a server that answers the n-th thing it reads with the n-th reply."""
    heard, recorded = [], []

    async def serve(reader, writer):
        for reply in replies:
            heard.append(await reader.read(65_536))
            await asyncio.sleep(hold)
            heard[-1] += await drained(reader)
            if reply is None:
                break
            writer.write(reply)
            await writer.drain()
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    settings = RawSettings(
        f"http://127.0.0.1:{port}/v1/search?x=1",
        Auth(Scheme.BEARER, KEY),
        5.0,
        lambda: 0.0,
        recorded.append,
    )
    async with server, connect(settings) as connection:
        yield connection, heard, recorded


async def drained(reader):
    """What else has arrived."""
    try:
        async with asyncio.timeout(0.1):
            return await reader.read(65_536)
    except TimeoutError:
        return b""


def run(story):
    asyncio.run(story())


def test_writes_an_ordinary_request_and_keeps_no_key():
    async def story():
        async with speaking(OK) as (connection, heard, recorded):
            made = await connection.send("search", b'{"a": 1}')
        assert heard[0].startswith(b"POST /v1/search?x=1 HTTP/1.1\r\nHost: 127.0.0.1:")
        assert b"Content-Type: application/json\r\n" in heard[0]
        assert f"authorization: Bearer {KEY}".encode() in heard[0]
        assert heard[0].endswith(b'\r\n\r\n{"a": 1}')
        assert (made.status, made.json, made.body) == (200, {}, b'{"a": 1}')
        assert KEY not in str(made.headers)
        assert recorded == [made]

    run(story)


def test_header_names_keep_their_spelling():
    async def story():
        async with speaking(OK) as (connection, heard, _):
            headers = [(n.upper(), v) for n, v in connection.plain_headers(b"{}")]
            await connection.send("search", b"{}", headers=headers)
        assert b"CONTENT-LENGTH: 2\r\n" in heard[0]
        assert b"Content-Length" not in heard[0]

    run(story)


def test_a_chunked_body_is_cut_into_pieces():
    async def story():
        async with speaking(OK) as (connection, heard, _):
            await connection.send(
                "search", b"abcdef", headers=[("Transfer-Encoding", "chunked")], pieces=3
            )
        assert heard[0].endswith(b"2\r\nab\r\n2\r\ncd\r\n2\r\nef\r\n0\r\n\r\n")

    run(story)


def test_two_requests_on_one_connection():
    async def story():
        async with speaking(OK, OK) as (connection, _, _):
            assert (await connection.send("search", b"{}")).status == 200
            assert connection.reusable
            assert (await connection.send("search", b"{}")).status == 200

    run(story)


def test_an_announced_close_is_no_promise():
    closing = OK.replace(b"OK\r\n", b"OK\r\nConnection: close\r\n")

    async def story():
        async with speaking(closing) as (connection, _, _):
            assert (await connection.send("search", b"{}")).status == 200
            assert not connection.reusable

    run(story)


def test_the_body_waits_for_100_continue():
    async def story():
        replies = (b"HTTP/1.1 100 Continue\r\n\r\n", OK)
        async with speaking(*replies) as (connection, heard, _):
            headers = [*connection.plain_headers(b"{}"), ("Expect", "100-continue")]
            made = await connection.send("search", b"{}", headers=headers, await_continue=5.0)
        assert heard[0].endswith(b"\r\n\r\n")
        assert heard[1] == b"{}"
        assert made.status == 200

    run(story)


def test_a_refusal_in_place_of_100_continue_is_the_answer():
    refusal = b"HTTP/1.1 417 No\r\nContent-Length: 0\r\n\r\n"

    async def story():
        async with speaking(refusal) as (connection, heard, _):
            headers = [*connection.plain_headers(b"{}"), ("Expect", "100-continue")]
            made = await connection.send("search", b"{}", headers=headers, await_continue=5.0)
        assert made.status == 417
        assert len(heard) == 1

    run(story)


@pytest.mark.parametrize(
    ("reply", "words"),
    [
        (None, CLOSED),
        (
            b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf",
            CLOSED,
        ),
        (b"<html>what?</html>\r\n\r\n", "broken HTTP answer"),
    ],
)
def test_trouble_becomes_an_exchange_without_status(reply, words):
    async def story():
        async with speaking(reply) as (connection, _, _):
            made = await connection.send("search", b"{}")
        assert made.status is None
        assert words in made.error
        assert not connection.reusable

    run(story)


def test_abandoning_sends_a_part_of_the_body_and_closes():
    async def story():
        async with speaking(None, hold=0.1) as (connection, heard, recorded):
            made = await connection.abandon("add", b"0123456789", share=0.5)
            await asyncio.sleep(0.3)
        assert b"Content-Length: 10\r\n" in heard[0]
        assert heard[0].endswith(b"\r\n\r\n01234")
        assert made.status is None
        assert recorded == [made]

    run(story)


def test_no_connection_is_an_os_error():
    async def story():
        settings = RawSettings("http://127.0.0.1:1/", Auth(), 1.0, lambda: 0.0, lambda _: None)
        with pytest.raises(ConnectionError):
            async with connect(settings):
                pass

    run(story)
