"""The contract's routes for Starlette and FastAPI, and the document that describes them.

Generated from ``proto/aml/memory/v1/memory.proto`` by ``scripts/generate``; do not edit.

Routes hand the raw request to a handler and take a ready response from it. They are Starlette's:
FastAPI's own read the handler's signature at each request, where there is nothing to read. What
they take and give is described by the committed document, which is what a server serves.
"""

from __future__ import annotations

import json
from importlib.resources import files
from typing import Any, Protocol

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

ADD_PATH = "/add"
SEARCH_PATH = "/search"
HEALTH_PATH = "/health"


class Handler(Protocol):
    """What answers the requests."""

    async def add(self, request: Request) -> Response:
        """Store a chunk of one conversation. Success is HTTP 200, given only after every message is
        durable and findable (clause A12); 201, 202 and 204 are violations (clause A13). A batch
        is stored whole or not at all (clause A14). The same user_id, request_id and body come
        again after a failure: the answer is the same success and nothing is stored twice
        (clause R1). The same two ids with another body are refused, with 422 (clause R4).
        """
        ...

    async def search(self, request: Request) -> Response:
        """Find what one user's memory holds about a question. It sees all that was acknowledged
        (clause S13), and nothing of other users (clause L2). Nothing found, or a user never
        seen, is an empty list (clause S11). It answers with stored memories, never with a
        generated answer (clause S12).
        """
        ...

    async def health(self, request: Request) -> Response:
        """Whether the endpoint can serve: any 2xx says so, the body is not read, no key is asked
        for (clause E3).
        """
        ...

    async def head(self, request: Request) -> Response:
        """Some callers probe a URL before they post to it: 200 (clause E4)."""
        ...


def make_routes(
    handler: Handler,
    *,
    add_path: str = ADD_PATH,
    search_path: str = SEARCH_PATH,
    health_path: str = HEALTH_PATH,
) -> list[Route]:
    """The routes of the contract, for ``app.router.routes`` of FastAPI or Starlette.

    Paths are a default and no part of the contract (clause E2). A route for GET takes HEAD too, as
    HTTP has it. Switch the router's ``redirect_slashes`` off: POST is never redirected (clause E6).
    """
    return [
        Route(add_path, handler.add, methods=["POST"]),
        Route(add_path, handler.head, methods=["HEAD"]),
        Route(search_path, handler.search, methods=["POST"]),
        Route(search_path, handler.head, methods=["HEAD"]),
        Route(health_path, handler.health, methods=["GET"]),
    ]


def document(
    *,
    add_path: str = ADD_PATH,
    search_path: str = SEARCH_PATH,
    health_path: str = HEALTH_PATH,
) -> dict[str, Any]:
    """The OpenAPI document; with the default paths it is the committed one."""
    described: dict[str, Any] = json.loads(document_bytes())
    chosen = {
        ADD_PATH: add_path,
        SEARCH_PATH: search_path,
        HEALTH_PATH: health_path,
    }
    described["paths"] = {chosen[path]: item for path, item in described["paths"].items()}
    return described


def document_bytes() -> bytes:
    """The committed document as it is served."""
    return files(__package__).joinpath("openapi.json").read_bytes()
