"""Servers that are too slow; the thresholds are made small for them."""

import asyncio

from tests.broken.correct import Correct


class SlowAdds(Correct):
    kills = {"latency/add": "the platform gives up then"}
    thresholds = {"warn_latency": 0.05, "fail_latency": 0.1}

    async def store(self, add):
        await asyncio.sleep(0.15)
        await super().store(add)


class SlowSearches(Correct):
    kills = {"latency/search": "the platform gives up then"}
    thresholds = {"warn_latency": 0.05, "fail_latency": 0.1}

    async def search(self, body):
        await asyncio.sleep(0.15)
        return await super().search(body)


class LoadsOnFirstRequest(Correct):
    kills = {"latency/cold-start": "something is loaded by the first request"}
    thresholds = {"slow_start": 0.5}
    loaded = False

    async def search(self, body):
        if not self.loaded:
            self.loaded = True
            await asyncio.sleep(1.5)
        return await super().search(body)
