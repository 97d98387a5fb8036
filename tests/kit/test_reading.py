"""Answers that are endless, huge, packed too well or encoded badly."""

import asyncio
import json
import zlib
from dataclasses import replace

import pytest

from aml_contract.endpoint import reading, retry
from aml_contract.endpoint.curl import curl
from aml_contract.endpoint.http import HTTPEndpoint
from aml_contract.endpoint.probe import health_probe
from aml_contract.endpoint.retry import send_again
from aml_contract.endpoint.target import Target
from aml_contract.exchange import NotStrictJSONError
from aml_contract.run import Run
from aml_contract.trial import Trial
from tests.kit.rules import made
from tests.kit.test_http_endpoint import Wire, exchanges, reply, replying


def bomb(size):
    packer = zlib.compressobj(9, zlib.DEFLATED, 31)
    return packer.compress(bytes(size)) + packer.flush()


@pytest.mark.parametrize("status", [200, 422])
def test_an_answer_that_grows_when_it_is_unpacked_is_given_up(monkeypatch, status):
    monkeypatch.setattr(reading, "MOST_REPLY", 2**20)
    found, _ = exchanges(replying(reply(status, bomb(2**25), "content-encoding: gzip")))
    assert (found[0].status, found[0].cut) == (status, "larger than 1 MiB")
    assert len(found[0].reply) <= 2**16


def test_an_answer_that_says_it_is_too_large_is_not_read():
    head = f"HTTP/1.1 200 OK\r\ncontent-length: {reading.MOST_REPLY + 1}\r\n\r\n".encode()
    found, _ = exchanges(replying(head), timeout=20)
    assert found[0].flood
    assert found[0].summary == "200, with an answer larger than 50 MiB"


def test_a_list_that_does_not_end_is_not_read_to_its_end():
    item = b'{"id":"1","content":"x"},'
    text = b'{"data":[' + item * (2 * reading.MOST_ITEMS)
    found, _ = exchanges(replying(reply(200, text)))
    assert found[0].cut == "a list of more than 50,000 items"
    with pytest.raises(NotStrictJSONError, match="read no further"):
        _ = found[0].json


def test_text_that_quotes_items_is_no_list_of_them():
    quoted = json.dumps({"data": [{"id": "1", "content": '{"id": "content"}' * 60_000}]}).encode()
    found, _ = exchanges(replying(reply(200, quoted)))
    assert found[0].cut is None
    assert len(found[0].json["data"]) == 1


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
            answered = await endpoint.send("health", None)
            await endpoint.aclose()
            return answered.status, await health_probe(f"{wire.url}/health")()

    assert asyncio.run(main()) == (200, 200)


def test_a_run_does_not_keep_what_is_huge():
    (huge,), _ = exchanges(replying(reply(200, b" " * 2**20)))
    (small,), _ = exchanges(replying(reply(200)))
    huge = replace(huge, body=b"x" * 2**21)
    run = Run(1, "salt")
    trial = Trial(made(None), None, run)
    for exchange in (huge, small, huge, small, huge, small):
        trial._record(exchange)
    assert trial.exchanges[-4:] == [huge, small, huge, small]  # what a finding may show
    assert run.exchanges[1] is small
    for light in (run.exchanges[0], trial.exchanges[0]):
        assert len(light.reply) < 2**17
        assert light.body == b""
        assert "2,097,152 bytes" in curl(light)


@pytest.mark.parametrize("asked", ["9" * 5_000, "99999999999", "3600", "-1", "soon", "²", ""])
def test_any_retry_after_is_survived(asked):
    found, _ = exchanges(replying(reply(503, b"", f"retry-after: {asked}"), reply(200)), count=2)
    waits, answers = [], iter(found)

    async def once(_):
        return next(answers)

    def waiting(exchange, attempt, seconds):
        waits.append(seconds)

    last = asyncio.run(send_again(once, attempts=2, patience=0.0001, waiting=waiting))
    assert last.status == 200
    assert waits[0] <= 60 * 0.0001


LATER = reply(429, b"", "retry-after: 1")


@pytest.mark.parametrize(
    ("answers", "sent"),
    [
        ([LATER] * 9 + [reply(502), reply(200)], 11),
        ([LATER] * 9 + [reply(502)] * 4, 13),
        ([reply(429)] * 9, 4),
        ([LATER] * 40, 32),
    ],
    ids=["that-passes", "that-fails", "that-names-no-time", "that-does-not-end"],
)
def test_what_is_put_off_is_no_failed_try(monkeypatch, answers, sent):
    monkeypatch.setattr(retry, "PUT_OFF_SECONDS", 1e9)
    found, _ = exchanges(replying(*answers), count=len(answers))
    tries = []

    async def once(number):
        tries.append(number)
        return found[number - 1]

    last = asyncio.run(send_again(once, attempts=4, patience=0.0001, heed=True))
    assert len(tries) == sent
    assert last is found[sent - 1]
