"""A server whose answers have no end costs a run moments, and is one finding."""

import asyncio
import json

import pytest

from aml_contract.checking.runner import run_rules
from aml_contract.endpoint.http import open_endpoint
from aml_contract.endpoint.target import Target
from aml_contract.outcome import Outcome
from aml_contract.rule import all_rules
from aml_contract.run import Run
from aml_contract.trial import FLOODS
from tests.servers import in_thread

FAMILIES = {"order", "structure", "visibility", "isolation"}
CONCURRENCY = 4


class Flooding:
    """Acknowledges Adds; answers Searches with a flood that goes on until the client goes."""

    def __init__(self, begin, again, times):
        self.begin, self.again, self.times = begin, again, times
        self.searches = self.most = self.sent = 0

    async def __call__(self, scope, receive, send):
        if scope["type"] != "http":
            return
        body = b""
        while (event := await receive())["type"] == "http.request":
            body += event["body"]
            if not event["more_body"]:
                break
        head = {"type": "http.response.start", "status": 200}
        await send({**head, "headers": [(b"content-type", b"application/json")]})
        if scope["path"] != "/search":
            ids = json.loads(body) if body else {}
            answer = json.dumps({"success": True, **ids}).encode()
            await send({"type": "http.response.body", "body": answer})
            return
        self.searches += 1
        parts = [self.begin] + [self.again] * self.times
        for part in parts:
            await send({"type": "http.response.body", "body": part, "more_body": True})
        self.sent += 1
        await send({"type": "http.response.body", "body": b""})


ITEM = b'{"id":"1","content":"x"},'


@pytest.mark.parametrize(
    ("server", "words"),
    [
        (Flooding(b'{"data":[', ITEM * 10_000, 100), "a list of more than 50,000 items"),
        (Flooding(b'{"data":[{"id":"1","content":"', b"x" * 2**20, 64), "larger than 50 MiB"),
    ],
    ids=["a million items", "64 MiB"],
)
def test_a_flood_is_one_finding_and_is_not_drunk(server, words):
    rules = [rule for rule in all_rules() if rule.family in FAMILIES and not rule.exclusive]
    run = Run(1, "salt", patience=0.01)

    async def main(url):
        target = Target(url=url, concurrency=CONCURRENCY)
        async with open_endpoint(target) as endpoint:
            return await run_rules(endpoint, rules, run)

    with in_thread(server, patient=False) as url:
        found = {result.rule: result for result in asyncio.run(main(url))}
    failed = {name for name, result in found.items() if result.outcome is Outcome.FAILED}
    assert failed == {"structure/legal-requests"}
    assert words in found["structure/legal-requests"].message
    assert "no more than top_k items" in found["structure/legal-requests"].message
    assert Outcome.KIT_ERROR not in {result.outcome for result in found.values()}
    assert FLOODS <= server.searches < 40  # those that already waited for a place are still sent
    assert sum(len(made.reply) for made in run.exchanges) < 2**20
