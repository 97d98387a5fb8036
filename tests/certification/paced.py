"""A memory in RAM whose delays are known, served on a socket or under a simulated clock.

Started as ``python -m tests.certification.paced --port {port} [--add 0.05 …]``.
"""

import argparse
import asyncio
import contextlib
import json
import math
import random
import re
from collections import defaultdict

import uvicorn

from aml_contract.endpoint.auth import Auth, Scheme
from aml_contract.exchange import Exchange


class Paced:
    """Keeps what it is told, and takes its time.

    Args:
        add: median seconds of an Add.
        search: median seconds of a Search.
        spread: sigma of the log-normal distribution around them.
        growth: the share by which an Add takes longer for each Add of the same user before.
        at_once: requests of a kind that are worked on at a time; others wait, or are refused.
        busy: the status for those others, with ``Retry-After: 1``; they wait if not given.
        lose: each so many-th Add is acknowledged and dropped.
        late: seconds from an acknowledgement until a Search finds it.
        permanent: the status that is answered while more than ``at_once`` are in flight.
        dies: after so many Adds nothing is answered any more.
        hangs: each so many-th Add is never answered.
        seed: of its delays.
    """

    def __init__(self, **how):
        given = {
            "add": 0.02,
            "search": 0.01,
            "spread": 0.0,
            "growth": 0.0,
            "at_once": 0,
            "busy": 0,
            "lose": 0,
            "late": 0.0,
            "permanent": 0,
            "dies": 0,
            "hangs": 0,
            "seed": 1,
        } | how
        self.how = argparse.Namespace(**given)
        self.chance = random.Random(given["seed"])
        self.stored = defaultdict(list)
        self.in_flight = {"add": 0, "search": 0}
        self.most = {"add": 0, "search": 0, "user": 0}
        self.by_user = defaultdict(int)
        self.count = {"add": 0, "search": 0}
        self.places = {}
        self.requests = set()
        self.repeats = 0

    async def answer(self, kind, body):
        """The status, the answer and its headers; ``None`` if none comes."""
        user = body["user_id"]
        self.count[kind] += 1
        number = self.count["add"]
        self.in_flight[kind] += 1
        self.most[kind] = max(self.most[kind], self.in_flight[kind])
        if kind == "add":
            self.by_user[user] += 1
            self.repeats += body["request_id"] in self.requests
            self.requests.add(body["request_id"])
            self.most["user"] = max(self.most["user"], self.by_user[user])
        try:
            return await self._answered(kind, user, body, number)
        finally:
            self.in_flight[kind] -= 1
            self.by_user[user] -= kind == "add"

    async def _answered(self, kind, user, body, number):
        how = self.how
        if how.dies and number > how.dies:
            return None
        if how.hangs and kind == "add" and number % how.hangs == 0:
            await asyncio.Event().wait()
        crowded = how.at_once and self.in_flight[kind] > how.at_once
        if crowded and (status := how.permanent or how.busy):
            return status, {"detail": {"reason": "too much"}}, {"retry-after": "1"}
        async with self._place(kind):
            await asyncio.sleep(self.delay(kind, len(self.stored[user])))
        if kind == "search":
            return 200, {"data": self._found(user, body)}, {}
        if not (how.lose and number % how.lose == 0):
            now = asyncio.get_running_loop().time()
            texts = [message["content"][:300] for message in body["messages"]]
            self.stored[user].append((now + how.late, [(t, words_of(t)) for t in texts]))
        ids = {key: body[key] for key in ("request_id", "user_id", "session_id")}
        return 200, {"success": True, **ids}, {}

    def delay(self, kind, history):
        """Seconds that a request takes."""
        median = getattr(self.how, kind) * (1 + self.how.growth * history)
        return median * math.exp(self.how.spread * self.chance.gauss(0, 1))

    @contextlib.asynccontextmanager
    async def _place(self, kind):
        if not self.how.at_once:
            yield
            return
        places = self.places.setdefault(kind, asyncio.Semaphore(self.how.at_once))
        async with places:
            yield

    def _found(self, user, body):
        """What has most of the query's words in its beginning: enough for canaries, and quick."""
        now = asyncio.get_running_loop().time()
        wanted = words_of(body["query"])
        texts = [
            (len(wanted & words), text)
            for visible, texts in self.stored[user]
            if visible <= now
            for text, words in texts
        ]
        best = sorted(texts, reverse=True)[: min(10, body["top_k"])]
        return [{"id": f"m{n}", "content": text} for n, (_, text) in enumerate(best)]

    # -- on a socket ---------------------------------------------------------------------

    async def __call__(self, scope, receive, send):
        """Serve one ASGI scope."""
        if scope["type"] != "http":
            while True:
                event = (await receive())["type"]
                await send({"type": f"{event}.complete"})
                if event == "lifespan.shutdown":
                    return
        body = b""
        while True:
            event = await receive()
            body += event.get("body", b"")
            if not event.get("more_body"):
                break
        status, answer, headers = 200, {"status": "ok"}, {}
        if scope["method"] == "POST":
            answered = await self.answer(scope["path"].strip("/"), json.loads(body))
            status, answer, headers = answered or (503, {}, {})
        elif scope["path"] == "/stats":
            answer = {"most": self.most, "count": self.count, "repeats": self.repeats}
        pairs = [(name.encode(), value.encode()) for name, value in headers.items()]
        pairs.append((b"content-type", b"application/json"))
        await send({"type": "http.response.start", "status": status, "headers": pairs})
        await send({"type": "http.response.body", "body": json.dumps(answer).encode()})


def words_of(text):
    return frozenset(re.findall(r"\w+", text[:200]))


class Simulated:
    """The same as an endpoint of the kit, without a network: for a simulated clock."""

    process = None

    def __init__(self, memory, adds=16, searches=16):
        self.memory = memory
        self.auth = Auth(Scheme.NONE, "")
        self.add_concurrency = adds
        self.search_concurrency = searches

    @contextlib.asynccontextmanager
    async def lanes(self, *, adds, searches):
        yield

    async def send(self, operation, body, *, fresh=False):
        loop = asyncio.get_running_loop()
        began = loop.time()
        answered = await self.memory.answer(operation, json.loads(body))
        status, reply, headers = answered or (None, {}, {})
        return Exchange(
            operation=operation,
            method="POST",
            url="http://memory.example",
            headers={},
            body=body,
            status=status,
            reply_headers=headers,
            reply=json.dumps(reply).encode(),
            seconds=loop.time() - began,
            started=began,
            error=None if answered else "connection refused",
        )


class SimulatedClock(asyncio.SelectorEventLoop):
    """An event loop that never waits: where it would, its time goes on at once."""

    def __init__(self):
        super().__init__()
        self._now = 0.0
        self._look = self._selector.select
        self._selector.select = self._skip

    def time(self):
        return self._now

    def _skip(self, timeout):
        assert timeout is not None, "everybody waits for ever"
        found = self._look(0)
        if not found:
            self._now += timeout
        return found


def simulated(work):
    """Run a coroutine under a simulated clock."""
    with asyncio.Runner(loop_factory=SimulatedClock) as runner:
        return runner.run(work)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--port", type=int)
    for name, value in vars(Paced().how).items():
        parser.add_argument(f"--{name}", type=type(value), default=value)
    words = vars(parser.parse_args())
    port = words.pop("port")
    uvicorn.run(Paced(**words), port=port, log_level="warning", access_log=False, backlog=512)
