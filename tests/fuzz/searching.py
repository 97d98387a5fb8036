"""Searches of the state machine on servers of this process."""

import asyncio
import time

from aml_contract.endpoint.http import open_endpoint
from aml_contract.endpoint.target import Target
from aml_contract.fuzz.bridge import Bridge
from aml_contract.fuzz.machine import Search
from aml_contract.rule import Cost, all_rules
from aml_contract.run import Run
from aml_contract.trial import Trial
from tests.broken.serving import PATIENCE
from tests.servers import in_thread

RULE = next(rule for rule in all_rules() if rule.name == "fuzz/history")


def searched(server, *, seed=1, seconds=900.0, rounds=8):
    """What a search on this server came to."""

    async def go(url):
        async with open_endpoint(Target(url=url)) as endpoint:
            run = Run(seed=seed, salt=str(time.time_ns()), patience=PATIENCE)
            bridge = Bridge(Trial(RULE, endpoint, run), seconds, Cost(20_000, 20_000))
            search = Search(bridge, rounds=rounds)
            await bridge.in_thread(search.run)
            return search

    with in_thread(server) as url:
        return asyncio.run(go(url))
