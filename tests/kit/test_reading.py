"""Answers that are endless, huge, packed too well or encoded badly."""

import asyncio
import zlib

import pytest

from aml_contract.endpoint import reading
from aml_contract.endpoint.http import HTTPEndpoint, health_probe
from aml_contract.endpoint.retry import send_again
from aml_contract.endpoint.target import Target
from tests.kit.test_http_endpoint import Wire, exchanges, reply, replying


def bomb(size):
    packer = zlib.compressobj(9, zlib.DEFLATED, 31)
    return packer.compress(bytes(size)) + packer.flush()


@pytest.mark.parametrize("status", [200, 422])
def test_an_answer_that_grows_when_it_is_unpacked_is_given_up(monkeypatch, status):
    monkeypatch.setattr(reading, "MOST_REPLY", 2**20)
    made, _ = exchanges(replying(reply(status, bomb(2**25), "content-encoding: gzip")))
    assert made[0].status is None
    assert "larger than" in made[0].error


def test_an_answer_that_says_it_is_too_large_is_not_read():
    head = f"HTTP/1.1 200 OK\r\ncontent-length: {reading.MOST_REPLY + 1}\r\n\r\n".encode()
    made, _ = exchanges(replying(head), timeout=20)
    assert "larger than" in made[0].error


async def _endless(writer, _):
    writer.write(b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n")
    while True:
        writer.write(b"1\r\n \r\n")
        await writer.drain()
        await asyncio.sleep(0.05)


@pytest.mark.parametrize(
    "answer",
    [_endless, replying(reply(200, b"no gzip", "content-encoding: gzip"))],
    ids=["endless", "no gzip"],
)
def test_the_body_of_a_healthy_answer_is_of_no_concern(monkeypatch, answer):
    monkeypatch.setattr(reading, "_HEALTH_SECONDS", 0.2)

    async def main():
        async with Wire(answer) as wire:
            target = Target(url=wire.url)
            endpoint = HTTPEndpoint(target.urls(), target.credentials, target)
            made = await endpoint.send("health", None)
            await endpoint.aclose()
            return made.status, await health_probe(f"{wire.url}/health")()

    assert asyncio.run(main()) == (200, 200)


@pytest.mark.parametrize("asked", ["9" * 5_000, "99999999999", "3600", "-1", "soon", "²", ""])
def test_any_retry_after_is_survived(asked):
    made, _ = exchanges(replying(reply(503, b"", f"retry-after: {asked}"), reply(200)), count=2)
    waits, answers = [], iter(made)

    async def once(_):
        return next(answers)

    def waiting(exchange, attempt, seconds):
        waits.append(seconds)

    last = asyncio.run(send_again(once, attempts=2, patience=0.0001, waiting=waiting))
    assert last.status == 200
    assert waits[0] <= 60 * 0.0001
