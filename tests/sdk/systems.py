"""Memory systems that tests put behind the server."""

import asyncio
import threading

from aml_sdk import Memory, MemorySystem
from aml_sdk.content import text_of


class Recorded(MemorySystem):
    """Blocking; keeps messages in a dictionary and everything that was asked of it in a list.

    It appends, as the simplest systems do: without ``discard`` a second delivery doubles.
    """

    def __init__(self):
        self.calls = []
        self.stored = {}
        self.failures = []
        self.entered = threading.Semaphore(0)
        self.go = threading.Event()
        self.go.set()
        self._lock = threading.Lock()

    def add(self, request):
        with self._lock:
            self.calls.append(("add", request.user_id, request.request_id))
        self.entered.release()
        self.go.wait(20)
        kept = self.stored.setdefault(request.user_id, [])
        kept.extend((request.request_id, message) for message in request.messages)
        if self.failures:
            raise self.failures.pop(0)

    def search(self, request):
        found = self.stored.get(request.user_id, [])
        return [
            Memory(id=f"{request_id}/{number}", content=text_of(message.content))
            for number, (request_id, message) in enumerate(found)
        ]

    def discard(self, user_id, request_id):
        with self._lock:
            self.calls.append(("discard", user_id, request_id))
        kept = self.stored.get(user_id, [])
        kept[:] = [item for item in kept if item[0] != request_id]

    def texts(self, user_id="u"):
        return [text_of(message.content) for _, message in self.stored.get(user_id, [])]


class Async(Recorded):
    """The same with coroutines."""

    async def add(self, request):
        while not self.go.is_set():
            self.entered.release()
            await asyncio.sleep(0.01)
        super().add(request)

    async def search(self, request):
        return super().search(request)

    async def discard(self, user_id, request_id):
        super().discard(user_id, request_id)


class Found(MemorySystem):
    """Answers each Search with what the test gave it."""

    images = True

    def __init__(self, *memories):
        self.memories = list(memories)

    def add(self, request):
        pass

    def search(self, request):
        if isinstance(self.memories[:1], list) and any(
            isinstance(memory, Exception) for memory in self.memories
        ):
            raise self.memories[0]
        return self.memories
