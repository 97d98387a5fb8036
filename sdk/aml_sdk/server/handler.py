"""The three operations: from the raw request to the ready response."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Iterable, Iterator
from functools import partial

from pydantic_core import to_json
from starlette.requests import Request
from starlette.responses import Response

from aml_sdk._gen.models import AddRequest, Memory, SearchRequest
from aml_sdk.content import is_blank, is_blank_content
from aml_sdk.errors import Refused, SystemFailure, Unsupported
from aml_sdk.identity import short_digest
from aml_sdk.ledger import Ledger, body_digest
from aml_sdk.server.adds import Adds
from aml_sdk.server.answer import NotMemories, search_body
from aml_sdk.server.body import early_refusal_headers, read_body
from aml_sdk.server.gate import Gate
from aml_sdk.server.health import Health
from aml_sdk.server.keys import KeyCheck
from aml_sdk.server.logs import describe, log
from aml_sdk.server.media import check_images
from aml_sdk.server.pool import Pool
from aml_sdk.server.problem import Problem
from aml_sdk.server.reading import read_add, read_search
from aml_sdk.server.settings import Settings
from aml_sdk.system import MemorySystem

_BIG = 1024 * 1024
"""From this size on a body is read on a thread: the event loop serves others meanwhile."""

_CLOSING = 30.0
"""Seconds that a system may take to close: all that it acknowledged is durable already."""

_Fields = dict[str, int | str]


class ContractHandler:
    """Add, Search, health and HEAD around one memory system."""

    def __init__(self, system: MemorySystem, ledger: Ledger, settings: Settings) -> None:
        self._system = system
        self._ledger = ledger
        self._settings = settings
        self._keys = KeyCheck(settings.auth, settings.key)
        self._adding = Gate("Adds", settings.max_adds, settings.retry_after)
        self._searching = Gate("Searches", settings.max_searches, settings.retry_after)
        self._adds = Adds(system, ledger, settings)
        self._searches = Pool("search", settings.search_workers)
        self._health = Health(system, settings.health_timeout)

    async def start(self) -> None:
        """Open the ledger and put right what an earlier life left unfinished."""
        await self._adds.recover()

    async def stop(self) -> None:
        """Finish the Adds under way, then close the system and the ledger."""
        await self._adds.finish()
        try:
            async with asyncio.timeout(_CLOSING):
                await self._searches.run(self._system.close)
        except Exception as error:  # noqa: BLE001  a system may fail in any way
            log(logging.ERROR, "close failed", **describe(error))
        finally:
            self._searches.close()
            await self._ledger.close()

    async def add(self, request: Request) -> Response:
        """``POST`` Add (clauses A1-A14, R1-R6)."""
        return await self._answer(request, "add", self._adding, self._add)

    async def search(self, request: Request) -> Response:
        """``POST`` Search (clauses S1-S15)."""
        return await self._answer(request, "search", self._searching, self._search)

    async def health(self, request: Request) -> Response:
        """``GET`` health: open to all, 503 when the system says so or does not answer (E3)."""
        if await self._health.check():
            return _json({"status": "ok"})
        return self._unavailable("the memory system is not healthy")

    async def head(self, request: Request) -> Response:
        """``HEAD`` on the Add and Search URLs: 200, a probe learns that they exist (E4)."""
        return Response()

    async def _answer(
        self,
        request: Request,
        operation: str,
        gate: Gate,
        serve: Callable[[bytes, _Fields], Awaitable[Response]],
    ) -> Response:
        """Key, gate, body, work: in this order; whatever fails becomes an answer."""
        started = time.perf_counter()
        fields: _Fields = {}
        early = True
        try:
            self._keys.check(request.scope["headers"])
            with gate:
                limit, seconds = self._settings.max_body, self._settings.body_timeout
                body = await read_body(request, limit=limit, seconds=seconds)
                early = False
                response = await serve(body, fields)
        except Problem as problem:
            fields["reason"] = problem.reason
            if early:
                problem.headers |= early_refusal_headers(request)
            response = problem.response()
        except (Refused, Unsupported) as refusal:
            response = Problem(422, str(refusal) or "the memory system refuses this").response()
        except SystemFailure as failure:
            response = self._unavailable(str(failure) or "the memory system is unavailable")
        except NotMemories as error:
            log(logging.ERROR, f"{operation} failed", reason=str(error))
            response = Problem(500, "the memory system failed").response()
        except Exception as error:  # noqa: BLE001  a system may fail in any way
            log(logging.ERROR, f"{operation} failed", **describe(error))
            response = Problem(500, "the memory system failed").response()
        ms = round((time.perf_counter() - started) * 1000, 1)
        log(logging.INFO, operation, status=response.status_code, ms=ms, **fields)
        return response

    async def _add(self, body: bytes, fields: _Fields) -> Response:
        if len(body) < _BIG:
            request, digest = self._read_add(body)
        else:
            request, digest = await asyncio.to_thread(self._read_add, body)
        kept = [message for message in request.messages if not is_blank(message)]
        fields.update(user=short_digest(request.user_id), messages=len(kept))
        if len(kept) < len(request.messages):
            request = request.model_copy(update={"messages": kept})
        await self._adds.store(request, digest)
        return _json(
            {
                "success": True,
                "request_id": request.request_id,
                "user_id": request.user_id,
                "session_id": request.session_id,
            }
        )

    def _read_add(self, body: bytes) -> tuple[AddRequest, bytes]:
        request = read_add(body)
        check_images(request, images=self._system.images, settings=self._settings)
        return request, body_digest(request)

    async def _search(self, body: bytes, fields: _Fields) -> Response:
        if len(body) < _BIG:
            request = self._read_search(body)
        else:
            request = await asyncio.to_thread(self._read_search, body)
        fields["user"] = short_digest(request.user_id)
        if is_blank_content(request.query):
            return _json({"data": []})
        try:
            async with asyncio.timeout(self._settings.search_deadline) as deadline:
                memories = await self._searches.run(self._system.search, request)
                answer, fields["items"] = await self._answered(memories, request.top_k)
        except TimeoutError:
            if not deadline.expired():
                raise  # the system's own: of a model that it asked, say
            return self._unavailable("the Search takes longer than the server waits")
        return Response(answer, media_type="application/json")

    async def _answered(self, memories: Iterable[Memory], top_k: int) -> tuple[bytes, int]:
        build = partial(search_body, top_k=top_k, max_images=self._settings.max_images)
        if isinstance(memories, Iterator):
            # A generator searches while it is read: not on the event loop.
            built: tuple[bytes, int] = await self._searches.run(build, memories)
            return built
        return build(memories)

    def _read_search(self, body: bytes) -> SearchRequest:
        request = read_search(body)
        check_images(request, images=self._system.images, settings=self._settings)
        return request

    def _unavailable(self, reason: str) -> Response:
        """503, to be tried again (clause F3)."""
        headers = {"Retry-After": str(self._settings.retry_after)}
        return Problem(503, reason, headers=headers).response()


def _json(value: object) -> Response:
    return Response(to_json(value), media_type="application/json")
