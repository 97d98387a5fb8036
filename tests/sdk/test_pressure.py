"""Many at once, too many, too slow, and clients that leave."""

import asyncio
import json
import socket
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from aml_sdk import MemoryLedger
from tests.sdk.conftest import add_body, running
from tests.sdk.systems import Async, Recorded
from tests.servers import eventually


@pytest.fixture(params=[Recorded, Async])
def system(request):
    return request.param()


async def _post(server, path, body):
    """The status; a bare socket, so that hundreds of clients cost the test little."""
    reader, writer = await asyncio.open_connection(*server.address)
    content = json.dumps(body).encode()
    head = f"POST {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n"
    writer.write(f"{head}Content-Length: {len(content)}\r\n\r\n".encode() + content)
    status = int((await reader.read()).split(b" ", 2)[1])
    writer.close()
    return status


def test_64_adds_and_256_searches_at_once(serve, system):
    server = serve(system)
    system.go.clear()

    async def crowd():
        adds = [
            asyncio.create_task(_post(server, "/add", add_body(f"text {n}", user_id=f"u{n}")))
            for n in range(64)
        ]
        query = {"query": "text", "user_id": "u1", "top_k": 100}
        searches = await asyncio.gather(*[_post(server, "/search", query) for _ in range(256)])
        system.go.set()
        return set(searches), set(await asyncio.gather(*adds))

    assert asyncio.run(crowd()) == ({200}, {200})
    assert all(server.contents(user_id=f"u{n}") == [f"text {n}"] for n in range(64))


def test_adds_beyond_the_limit_are_429_and_pass_later(serve, system):
    server = serve(system, max_adds=1, retry_after=7)
    system.go.clear()
    with ThreadPoolExecutor(1) as pool:
        inside = pool.submit(server.add, "x")
        assert system.entered.acquire(timeout=10)
        answer = server.add("x", request_id="second")
        assert answer.status_code == 429
        assert answer.headers["Retry-After"] == "7"
        assert server.search().status_code == 200
        system.go.set()
        assert inside.result().status_code == 200
    assert server.add("x", request_id="second").status_code == 200


def test_an_add_after_its_deadline_is_503_and_goes_on(serve, system):
    server = serve(system, add_deadline=0.1)
    system.go.clear()
    assert server.add("slow").status_code == 503
    system.go.set()
    eventually(lambda: system.texts() == ["slow"])
    assert server.add("slow").status_code == 200
    assert system.texts() == ["slow"]


def test_a_search_after_its_deadline_is_503(serve):
    class Slow(Recorded):
        back = threading.Event()

        def search(self, request):
            self.back.wait(20)
            return []

    system = Slow()
    server = serve(system, search_deadline=0.1)
    answer = server.search()
    assert answer.status_code == 503
    assert 1 <= int(answer.headers["Retry-After"]) <= 60
    system.back.set()
    assert server.search().status_code == 200


def _send_and_leave(server, body):
    content = json.dumps(body).encode()
    with socket.create_connection(server.address, timeout=20) as raw:
        head = f"POST /add HTTP/1.1\r\nHost: x\r\nContent-Length: {len(content)}\r\n\r\n"
        raw.sendall(head.encode() + content)
        yield


def test_an_add_runs_to_its_end_though_its_client_has_gone(serve, system):
    server = serve(system)
    system.go.clear()
    for _ in _send_and_leave(server, add_body("left alone")):
        assert system.entered.acquire(timeout=10)
    system.go.set()
    eventually(lambda: system.texts() == ["left alone"])
    assert server.add("left alone").status_code == 200
    assert system.texts() == ["left alone"]


def test_shutdown_waits_for_adds_then_closes_the_system(system):
    closed = []
    system.close = lambda: closed.append(system.texts())
    timer = threading.Timer(0.5, system.go.set)
    with running(system, add_deadline=0.1) as server:
        system.go.clear()
        assert server.add("late").status_code == 503
        timer.start()
    assert closed == [["late"]]


@pytest.mark.parametrize("ending", [RuntimeError("gone"), TimeoutError(), SystemExit()])
def test_a_system_that_cannot_close_keeps_nobody_from_the_end(system, ending):
    ended = []

    class Watched(MemoryLedger):
        async def close(self):
            ended.append("ledger")

    def close():
        raise ending

    system.close = close
    with running(system, ledger=Watched()):
        pass
    assert ended == ["ledger"]
