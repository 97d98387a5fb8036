"""A real server on a real socket around a system, in a thread of the test."""

import contextlib
import io
import json
import logging

import httpx
import pytest

from aml_sdk import Settings, create_app
from aml_sdk.server import logs
from tests.servers import in_thread


class Server:
    """The URL of a running application and the usual requests."""

    def __init__(self, url):
        self.url = url
        limits = httpx.Limits(max_connections=None)
        self.http = httpx.Client(base_url=url, timeout=30, limits=limits, trust_env=False)

    def close(self):
        self.http.close()

    @property
    def address(self):
        host, port = self.url.removeprefix("http://").split(":")
        return host, int(port)

    def post(self, path, body, **kwargs):
        content = body if isinstance(body, bytes) else json.dumps(body).encode()
        return self.http.post(path, content=content, **kwargs)

    def add(self, *texts, request_id="r", user_id="u", session_id="s", **extra):
        return self.post(
            "/add",
            add_body(
                *texts, request_id=request_id, user_id=user_id, session_id=session_id, **extra
            ),
        )

    def search(self, query="query", *, user_id="u", top_k=100, **extra):
        return self.post("/search", {"query": query, "user_id": user_id, "top_k": top_k, **extra})

    def contents(self, **kwargs):
        return [item["content"] for item in self.search(**kwargs).json()["data"]]


def add_body(*texts, request_id="r", user_id="u", session_id="s", **extra):
    messages = [{"role": "user", "content": text} for text in texts]
    return {
        "request_id": request_id,
        "user_id": user_id,
        "session_id": session_id,
        "messages": messages,
        **extra,
    }


@contextlib.contextmanager
def running(system, *, ledger=None, **settings):
    """Serve the system until the block ends; shuts down as SIGTERM does."""
    app = create_app(system, ledger=ledger, settings=Settings(**settings))
    with in_thread(app, lifespan="on") as url, contextlib.closing(Server(url)) as server:
        yield server


@pytest.fixture
def serve():
    """``serve(system, **settings)``: a :class:`Server`, stopped after the test."""
    with contextlib.ExitStack() as stack:
        yield lambda system, **kwargs: stack.enter_context(running(system, **kwargs))


@pytest.fixture
def written():
    """What the server logs, as it is written."""
    stream = io.StringIO()
    loggers = [logging.getLogger(name) for name in ("aml", "uvicorn")]
    before = [(logger.handlers, logger.level, logger.propagate) for logger in loggers]
    logs.configure(stream)
    yield stream
    for logger, state in zip(loggers, before, strict=True):
        logger.handlers, logger.level, logger.propagate = state
