"""Servers that are wrong about health or probes."""

import asyncio

from tests.broken.correct import Correct, RefusedError, Reply


class NoHealth(Correct):
    kills = {"health/open": "health was answered 404, not 2xx"}

    def health(self):
        # The kit would wait for a server whose health fails with 5xx; 404 is an answer.
        raise RefusedError(404, "no such path")


class BusyHealth(Correct):
    """Waits for the worker that stores."""

    kills = {"health/steady": "health was answered 503 while Adds were running"}

    async def store(self, add):
        await asyncio.sleep(0.3)
        await super().store(add)

    def health(self):
        return Reply(503 if self.pending else 200, {})


class NoHead(Correct):
    kills = {"health/head": "HEAD on Add was answered 405; HEAD on Search was answered 405"}

    def head(self):
        raise RefusedError(405, "use POST")
