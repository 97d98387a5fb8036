"""The client against a real server on a real socket."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import httpx
import httpx2
import pytest
from fastapi import FastAPI
from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response

from aml_sdk._gen.client import MemoryClient, UnexpectedAnswer
from aml_sdk._gen.models import AddRequest, Message, SearchRequest
from aml_sdk._gen.router import make_routes
from tests.servers import in_thread

REQUEST = AddRequest(
    request_id="eval:r:chunk-0",
    user_id=" ü\x00:成 ",
    session_id="s",
    messages=[Message(role="user", content="Pavel keeps bees."), Message(role="user", content=[])],
)
QUESTION = SearchRequest(query="bees", user_id="u", top_k=7)


class Recorder:
    """Answers as it is told and keeps what it was sent."""

    def __init__(self) -> None:
        self.answer: Response | None = None
        self.healthy = True
        self.seen: list[tuple[str, str, dict[str, str], bytes]] = []

    async def _record(self, request: Request) -> bytes:
        body = await request.body()
        self.seen.append((request.method, request.url.path, dict(request.headers), body))
        return body

    async def add(self, request: Request) -> Response:
        body = json.loads(await self._record(request))
        ids = {key: body[key] for key in ("request_id", "user_id", "session_id")}
        return self.answer or JSONResponse({"success": True, **ids})

    async def search(self, request: Request) -> Response:
        await self._record(request)
        return self.answer or JSONResponse({"data": [{"id": "m", "content": "bees", "score": 1}]})

    async def health(self, request: Request) -> Response:
        await self._record(request)
        return Response(status_code=204 if self.healthy else 503)

    async def head(self, request: Request) -> Response:
        await self._record(request)
        return Response()


@asynccontextmanager
async def serving(handler: Recorder, **paths: str) -> AsyncIterator[str]:
    app = FastAPI(openapi_url=None, redirect_slashes=False)
    app.router.routes.extend(make_routes(handler, **paths))
    with in_thread(app, lifespan="off") as url:
        yield url


def run(scenario: Any) -> None:
    asyncio.run(scenario())


def test_operations_and_what_is_sent():
    async def scenario() -> None:
        handler = Recorder()
        async with serving(handler) as url, MemoryClient(url + "/") as client:
            added = await client.add(REQUEST)
            found = await client.search(QUESTION)
            healthy = await client.health()
        assert added.model_dump() == {
            "success": True,
            "request_id": REQUEST.request_id,
            "user_id": REQUEST.user_id,
            "session_id": "s",
        }
        assert [(memory.id, memory.score) for memory in found.data] == [("m", 1.0)]
        assert healthy
        methods = [(method, path) for method, path, _, _ in handler.seen]
        assert methods == [("POST", "/add"), ("POST", "/search"), ("GET", "/health")]
        sent = json.loads(handler.seen[0][3])
        assert sent == json.loads(REQUEST.model_dump_json(exclude_none=True))
        assert sent["messages"][1] == {"role": "user", "content": []}
        assert json.loads(handler.seen[1][3]) == {"query": "bees", "user_id": "u", "top_k": 7}
        assert handler.seen[0][2]["content-type"] == "application/json"

    run(scenario)


@pytest.mark.parametrize("library", [httpx, httpx2])
def test_an_injected_client_is_used_and_left_open(library: Any):
    async def scenario() -> None:
        handler = Recorder()
        async with serving(handler) as url, library.AsyncClient(headers={"X-Mine": "1"}) as own:
            async with MemoryClient(url, client=own) as client:
                await client.add(REQUEST)
            assert not own.is_closed
            assert await client.health()
        assert [headers["x-mine"] for _, _, headers, _ in handler.seen] == ["1", "1"]

    run(scenario)


def test_urls_are_registered_apart_and_health_is_on_the_origin():
    async def scenario() -> None:
        handler = Recorder()
        async with serving(handler, add_path="/v1/memories/add", search_path="/find") as url:
            apart = {"add_url": f"{url}/v1/memories/add", "search_url": f"{url}/find"}
            async with MemoryClient(**apart) as client:
                await client.add(REQUEST)
                await client.search(QUESTION)
                assert await client.health()
        assert [path for _, path, _, _ in handler.seen] == ["/v1/memories/add", "/find", "/health"]

    run(scenario)


@pytest.mark.parametrize(
    ("auth", "header", "value"),
    [
        ("bearer", "authorization", "Bearer k-1"),
        ("token", "authorization", "Token k-1"),
        ("x-api-key", "x-api-key", "k-1"),
    ],
)
def test_the_key_travels_as_registered_and_not_to_health(auth: str, header: str, value: str):
    async def scenario() -> None:
        handler = Recorder()
        async with serving(handler) as url, MemoryClient(url, auth=auth, key="k-1") as client:
            await client.add(REQUEST)
            await client.health()
            assert "k-1" not in repr(client)
        assert handler.seen[0][2][header] == value
        assert header not in handler.seen[1][2]

    run(scenario)


@pytest.mark.parametrize(
    ("answer", "status", "reason"),
    [
        (JSONResponse({"detail": {"reason": "top_k: too small"}}, 422), 422, "top_k: too small"),
        (JSONResponse({"detail": "Not Found"}, 404), 404, '{"detail":"Not Found"}'),
        (Response(status_code=503), 503, "no reason given"),
        (Response(b"\xff<html>" * 200, 524), 524, "\ufffd<html>"),
        (JSONResponse({"success": True}, 201), 201, '{"success":true}'),
        (RedirectResponse("/health"), 307, "no reason given"),
        (JSONResponse({"success": 1}), 200, "success: "),
        (Response(b"ok"), 200, "Invalid JSON"),
    ],
)
def test_any_other_answer_is_an_error_with_status_and_reason(
    answer: Response, status: int, reason: str
):
    async def scenario() -> None:
        handler = Recorder()
        handler.answer = answer
        async with serving(handler) as url, MemoryClient(url) as client:
            with pytest.raises(UnexpectedAnswer) as raised:
                await client.add(REQUEST)
        assert raised.value.status == status
        assert reason in raised.value.reason
        assert len(raised.value.reason) <= 300
        assert len(handler.seen) == 1

    run(scenario)


def test_health_is_any_2xx():
    async def scenario() -> None:
        handler = Recorder()
        async with serving(handler) as url, MemoryClient(url) as client:
            assert await client.health()
            handler.healthy = False
            assert not await client.health()

    run(scenario)


def test_head_is_answered_and_other_methods_are_not():
    async def scenario() -> None:
        async with serving(Recorder()) as url, httpx.AsyncClient(base_url=url) as plain:
            statuses = [
                (await plain.request(method, path)).status_code
                for method, path in [
                    ("HEAD", "/add"),
                    ("HEAD", "/search"),
                    ("GET", "/add"),
                    ("POST", "/add/"),
                ]
            ]
        assert statuses == [200, 200, 405, 404]

    run(scenario)


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        ({}, "add_url is needed"),
        ({"add_url": "http://h/a"}, "search_url is needed"),
        ({"base_url": "http://h", "auth": "basic", "key": "k"}, "'basic' is none of bearer"),
        ({"base_url": "http://h", "auth": "bearer"}, "bearer needs a key"),
        ({"base_url": "http://h", "key": "k"}, "a key needs a scheme"),
    ],
)
def test_a_client_that_cannot_work_is_not_made(arguments: dict[str, Any], complaint: str):
    with pytest.raises(ValueError, match=complaint):
        MemoryClient(**arguments)
