import asyncio
import gzip
import os

import pytest

from aml_contract.endpoint import http
from aml_contract.endpoint.http import HTTPEndpoint, Unreachable, open_endpoint
from aml_contract.endpoint.target import Target
from tests.kit.conftest import command


class Wire:
    """A server that answers each connection by a function; counts connections."""

    def __init__(self, answer):
        self._answer = answer
        self.connections = 0
        self.requests = []

    async def __aenter__(self):
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        self.port = self._server.sockets[0].getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}"
        return self

    async def __aexit__(self, *_):
        self._server.close()

    async def _serve(self, reader, writer):
        self.connections += 1
        try:
            while head := await reader.readuntil(b"\r\n\r\n"):
                self.requests.append(head.decode())
                lengths = [
                    line.split(b":")[1]
                    for line in head.lower().split(b"\r\n")
                    if line.startswith(b"content-length")
                ]
                if lengths:
                    await reader.readexactly(int(lengths[0]))
                await self._answer(writer, len(self.requests))
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()


def reply(status, body=b"{}", *lines):
    head = [f"HTTP/1.1 {status} X", f"content-length: {len(body)}", *lines]
    return "\r\n".join(head).encode() + b"\r\n\r\n" + body


def replying(*replies):
    async def answer(writer, number):
        writer.write(replies[min(number, len(replies)) - 1])
        await writer.drain()

    return answer


def exchanges(answer, count=1, **more):
    """What ``count`` Adds in a row bring, and the server."""

    async def main():
        async with Wire(answer) as wire:
            target = Target(url=wire.url, **more)
            endpoint = HTTPEndpoint(target.urls(), target.credentials, target)
            made = [await endpoint.send("add", b"{}") for _ in range(count)]
            await endpoint.aclose()
            return made, wire

    return asyncio.run(main())


def test_good_connections_are_kept():
    _, wire = exchanges(replying(reply(200)), count=3)
    assert wire.connections == 1


@pytest.mark.parametrize("status", [500, 503, 401, 413, 422])
def test_a_connection_that_brought_an_error_is_not_used_again(status):
    made, wire = exchanges(replying(reply(status), reply(200)), count=3)
    assert [exchange.status for exchange in made] == [status, 200, 200]
    assert wire.connections == 2


def test_redirects_are_not_followed():
    made, wire = exchanges(replying(reply(307, b"", "location: /elsewhere")))
    assert made[0].status == 307
    assert len(wire.requests) == 1


def test_proxy_variables_are_ignored(monkeypatch):
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:1")
    assert exchanges(replying(reply(200)))[0][0].status == 200


def test_compressed_answers_are_read():
    packed = gzip.compress(b'{"success": true}')
    made, _ = exchanges(replying(reply(200, packed, "content-encoding: gzip")))
    assert made[0].json == {"success": True}


def test_the_key_travels_and_leaves_no_trace():
    key = "canary-0451-key"
    made, wire = exchanges(replying(reply(200)), auth="x-api-key", key=key)
    assert f"x-api-key: {key}" in wire.requests[0].lower()
    assert key not in repr(made[0])
    assert made[0].headers["x-api-key"] == "$AML_KEY"


async def _hang_up(writer, _):
    writer.close()


async def _reset(writer, _):
    writer.transport.abort()


async def _silent(writer, _):
    await asyncio.sleep(30)


async def _nonsense(writer, _):
    writer.write(b"SSH-2.0-OpenSSH\r\n\r\n")
    await writer.drain()


async def _drips(writer, _):
    writer.write(b"HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n")
    for _ in range(100):
        writer.write(b"x")
        await writer.drain()
        await asyncio.sleep(0.05)


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (_hang_up, "connection closed without an answer"),
        (_reset, "connection"),
        (_silent, "no answer within 0.4 s"),
        (_drips, "no answer within 0.4 s"),
        (_nonsense, "broken HTTP answer"),
        (replying(reply(200, b"no gzip", "content-encoding: gzip")), "cannot be decompressed"),
    ],
)
def test_troubles_become_words(answer, words):
    made, _ = exchanges(answer, timeout=0.4)
    assert made[0].status is None
    assert words in made[0].error
    assert made[0].retryable


def test_nothing_there_is_unreachable_with_the_curl_to_try():
    async def main():
        async with open_endpoint(Target(url="http://127.0.0.1:1")):
            raise AssertionError("it opened")

    with pytest.raises(Unreachable) as caught:
        asyncio.run(main())
    assert "connection refused" in str(caught.value)
    assert "curl -sS -i http://127.0.0.1:1/health" in str(caught.value)


def test_what_is_waited_for_is_said_and_given_up(monkeypatch):
    monkeypatch.setattr(http, "_PROBE_TIMEOUT", 0.3)
    monkeypatch.setattr(http, "_PROBE_SILENCE", 0.05)
    said = []

    async def main():
        async with Wire(_silent) as wire, open_endpoint(Target(url=wire.url), say=said.append):
            raise AssertionError("it opened")

    with pytest.raises(Unreachable, match=r"no answer within 0\.3 s"):
        asyncio.run(main())
    assert [words.split("/")[-1] for words in said] == [
        f"{path}, up to 0.3 s" for path in ("health", "add", "search")
    ]


def test_a_server_that_answers_says_nothing_of_waiting(monkeypatch):
    monkeypatch.setattr(http, "_PROBE_SILENCE", 0.05)
    said = []

    async def main():
        async with (
            Wire(replying(reply(200))) as wire,
            open_endpoint(Target(url=wire.url), say=said.append),
        ):
            await asyncio.sleep(0.1)

    asyncio.run(main())
    assert said == []


def test_a_health_that_is_missing_is_not_unreachable():
    async def main():
        async with (
            Wire(replying(reply(404))) as wire,
            open_endpoint(Target(url=wire.url)) as endpoint,
        ):
            return await endpoint.answers()

    assert asyncio.run(main()) is None


def test_a_server_that_ends_at_start_is_shown_with_its_log():
    async def main():
        async with open_endpoint(Target(cmd=command("closed"))):
            raise AssertionError("it opened")

    with pytest.raises(Unreachable) as caught:
        asyncio.run(main())
    assert "exited with 1" in str(caught.value)
    assert "no configuration found" in str(caught.value)


def test_a_server_that_never_listens_is_given_up_and_gone(tmp_path):
    pid = tmp_path / "pid"

    async def main():
        target = Target(cmd=f"echo $$ > {pid}; sleep 600 # {{port}}", start_timeout=0.3)
        async with open_endpoint(target):
            raise AssertionError("it opened")

    with pytest.raises(Unreachable, match=r"did not answer within 0\.3 s"):
        asyncio.run(main())
    with pytest.raises(ProcessLookupError):
        os.kill(int(pid.read_text()), 0)


def test_data_survives_a_kill_and_temporary_data_goes_with_the_run():
    async def main():
        say = []
        target = Target(cmd=f"echo x >> {{data}}/starts; {command()}")
        async with open_endpoint(target, say=say.append) as endpoint:
            process = endpoint.process
            await process.kill()
            gone = await endpoint.send("add", b"{}")
            await process.start()
            await process.restart()
            back = await endpoint.send("health", None)
            starts = (process.data_dir / "starts").read_text()
        return gone, back, starts, process.data_dir.exists()

    gone, back, starts, left = asyncio.run(main())
    assert gone.error == "connection refused"
    assert back.status == 200
    assert starts == "x\n" * 3
    assert not left


async def _most_in_flight(endpoint, wire, adds, searches):
    wire.most = 0
    work = [endpoint.send("add", b"{}") for _ in range(adds)]
    work += [endpoint.send("search", b"{}") for _ in range(searches)]
    await asyncio.gather(*work)
    return wire.most


def test_lanes_give_adds_and_searches_places_of_their_own():
    async def go():
        async def answer(writer, number):
            wire.now += 1
            wire.most = max(wire.most, wire.now)
            await asyncio.sleep(0.05)
            wire.now -= 1
            writer.write(reply(200))

        async with Wire(answer) as wire:
            wire.most = wire.now = 0
            async with open_endpoint(Target(url=wire.url, concurrency=2)) as endpoint:
                shared = await _most_in_flight(endpoint, wire, 6, 6)
                async with endpoint.lanes(adds=3, searches=2):
                    apart = await _most_in_flight(endpoint, wire, 6, 6)
                again = await _most_in_flight(endpoint, wire, 6, 6)
            return shared, apart, again

    assert asyncio.run(go()) == (2, 5, 2)


def test_what_is_declared_for_each_operation():
    async def go():
        async with Wire(replying(reply(200))) as wire:
            target = Target(url=wire.url, concurrency=4, search_concurrency=9)
            async with open_endpoint(target) as endpoint:
                return endpoint.add_concurrency, endpoint.search_concurrency

    assert asyncio.run(go()) == (4, 9)
