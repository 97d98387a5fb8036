"""A server that speaks OpenAI's protocol and does what a test tells it to do.

    with fake_provider() as provider:
        settings = provider.settings()
        provider.script(say("hello"), call("search", {"query": "x"}), broken.SERVER_ERROR)

Scripted answers are given in order, to chats and embeddings alike unless made for one of them;
when the script is used up, ``provider.mode`` decides. Without either, a chat echoes the last
message, and embeddings are made of the words of a text, so that like texts are near.
"""

import asyncio
import base64
import contextlib
import hashlib
import json
import re
import threading
from collections import deque
from dataclasses import dataclass, field

import numpy as np
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from aml_sdk.providers.settings import ModelAddress, ProviderSettings
from tests.servers import in_thread

DIMENSIONS = 64
KEY = "sk-secret-of-the-test"


def say(content, *, finish_reason="stop", refusal=None):
    """A chat answer in words."""
    message = {"role": "assistant", "content": content}
    if refusal is not None:
        message["refusal"] = refusal
    return _completion(message, finish_reason)


def call(name, arguments, *more):
    """A chat answer that calls a tool, or several: ``call("a", {…}, "b", {…})``.

    Arguments that are a string are sent as they are: they need not be JSON.
    """
    pairs = [name, arguments, *more]
    calls = [
        {
            "id": f"call_{number}",
            "type": "function",
            "function": {
                "name": each,
                "arguments": given if isinstance(given, str) else json.dumps(given),
            },
        }
        for number, (each, given) in enumerate(zip(pairs[::2], pairs[1::2], strict=True))
    ]
    return _completion({"role": "assistant", "content": None, "tool_calls": calls}, "tool_calls")


def error(status, *, code=None, headers=None):
    """An answer with a status, whose message quotes what it was sent, as real ones do."""

    def answer(body):
        message = f"cannot take {json.dumps(body)} of {KEY}"
        detail = {"message": message, "type": "error", "code": code}
        return JSONResponse({"error": detail}, status, headers=headers)

    return answer


def rate_limited(seconds="0.01"):
    """429 with Retry-After."""
    return error(429, headers={"Retry-After": str(seconds)})


def raw(text, media_type="application/json"):
    """200 with any body."""
    return lambda body: Response(text, media_type=media_type)


def bad_json():
    """200 with a body that is cut off."""
    return raw('{"id": "x", "choices": [{"mess')


def hang(seconds=3600):
    """No answer for so long."""
    return lambda body: asyncio.sleep(seconds, Response(status_code=500))


def refusal():
    """The model will not."""
    return say(None, refusal="I cannot help with that.")


def _completion(message, finish_reason):
    def answer(body):
        choice = {"index": 0, "message": message, "finish_reason": finish_reason}
        usage = {"prompt_tokens": 11, "completion_tokens": 7, "total_tokens": 18}
        return JSONResponse(
            {
                "id": "chatcmpl-1",
                "object": "chat.completion",
                "created": 1,
                "model": body.get("model"),
                "choices": [choice],
                "usage": usage,
            }
        )

    return answer


def vector(text):
    """Words hashed into a vector: texts that share words are near each other."""
    words = re.findall(r"\w+", text.lower()) or [text]
    total = np.zeros(DIMENSIONS)
    for word in words:
        seed = int.from_bytes(hashlib.sha256(word.encode()).digest()[:8])
        total += np.random.default_rng(seed).standard_normal(DIMENSIONS)
    return (total / len(words)).astype(np.float32)


@dataclass
class FakeProvider:
    """What it was asked, and what it will answer."""

    url: str = ""
    requests: list = field(default_factory=list)
    """Bodies, in order of arrival; ``chats`` and ``embeddings`` are those of one kind."""
    headers: list = field(default_factory=list)
    mode: object = None
    """Answers everything that no script does: a function of the body, or None."""
    chat: object = None
    """Answers chats, and nothing else, where neither a script nor the mode does."""
    base64_vectors: bool = False
    most_at_once: int = 0
    delay: float = 0
    _script: deque = field(default_factory=deque)
    _now: int = 0
    _lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def chats(self):
        return [each for each in self.requests if "messages" in each]

    @property
    def embeddings(self):
        return [each for each in self.requests if "input" in each]

    @property
    def left(self):
        """Scripted answers that nobody asked for yet."""
        return len(self._script)

    def script(self, *answers):
        """Give these answers next."""
        self._script.extend(answers)

    def settings(self, *, llm=True, embedding=True, **limits):
        """Settings that lead here, with short waits."""
        return ProviderSettings(
            llm=ModelAddress(base_url=self.url, model="fake-chat", api_key=KEY) if llm else None,
            embedding=ModelAddress(base_url=self.url, model="fake-embedding", api_key=KEY)
            if embedding
            else None,
            **{"timeout": 5.0, "retries": 1, **limits},
        )

    def environment(self, *, llm=True, embedding=True):
        """The same as variables."""
        given = {}
        for prefix, model, wanted in (
            ("AML_LLM", "fake-chat", llm),
            ("AML_EMBEDDING", "fake-embedding", embedding),
        ):
            if wanted:
                given |= {
                    f"{prefix}_BASE_URL": self.url,
                    f"{prefix}_MODEL": model,
                    f"{prefix}_API_KEY": KEY,
                }
        return given

    async def answer(self, request: Request):
        body = await request.json()
        with self._lock:
            self.requests.append(body)
            self.headers.append(dict(request.headers))
            self._now += 1
            self.most_at_once = max(self.most_at_once, self._now)
            answer = self._script.popleft() if self._script else self.mode
        try:
            if self.delay:
                await asyncio.sleep(self.delay)
            given = (answer or self.usual)(body)
            return await given if asyncio.iscoroutine(given) else given
        finally:
            with self._lock:
                self._now -= 1

    def usual(self, body):
        """What is answered where neither a script nor the mode does."""
        if "messages" in body:
            return (self.chat or self._echo)(body)
        return self._embeddings(body)

    def _echo(self, body):
        return say(f"echo: {body['messages'][-1]['content']}")(body)

    def _embeddings(self, body):
        texts = [body["input"]] if isinstance(body["input"], str) else body["input"]
        if not all(texts):
            return error(400)(body)
        data = []
        for index, text in enumerate(texts):
            made = vector(text)[: body.get("dimensions")]
            embedding = made.tolist()
            if self.base64_vectors:
                embedding = base64.b64encode(made.astype("<f4").tobytes()).decode()
            data.append({"object": "embedding", "index": index, "embedding": embedding})
        data.reverse()  # the index says the order, not the list
        usage = {"prompt_tokens": len(texts), "total_tokens": len(texts)}
        return JSONResponse(
            {"object": "list", "data": data, "model": body["model"], "usage": usage}
        )


@contextlib.contextmanager
def fake_provider():
    """The server, on a socket of its own until the block ends."""
    provider = FakeProvider()
    routes = [
        Route("/v1/chat/completions", provider.answer, methods=["POST"]),
        Route("/v1/embeddings", provider.answer, methods=["POST"]),
    ]
    with in_thread(Starlette(routes=routes), patient=False, lifespan="off") as url:
        provider.url = f"{url}/v1"
        yield provider
