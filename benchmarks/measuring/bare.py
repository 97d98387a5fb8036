"""Servers whose memory does nothing: what remains is the server.

    python -m benchmarks.measuring.bare bare|sdk|threads --port PORT

All take the contract's requests, validate them by its models, and answer the same: a Search of
``somebody`` with a hundred memories, of anyone else with none.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

import uvicorn
from pydantic_core import to_json
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import ASGIApp

from aml_sdk import AddRequest, Memory, MemorySystem, SearchRequest, SearchResponse, create_app
from aml_sdk.server.logs import configure

SOMEBODY = "somebody"
_WORDS = "Caroline: I went to the support group yesterday, and it was so powerful. " * 2
_FOUND = [
    Memory(
        id=f"m-{number:032x}",
        content=_WORDS,
        score=1 - number / 100,
        created_at="2023-05-08T13:56:00+00:00",
    )
    for number in range(100)
]


class Nothing(MemorySystem):
    """Stores nothing; its methods run on the event loop."""

    async def add(self, request: AddRequest) -> None:
        """Done."""

    async def search(self, request: SearchRequest) -> Sequence[Memory]:
        """The same every time."""
        return _FOUND if request.user_id == SOMEBODY else ()


class OnThreads(MemorySystem):
    """The same by methods that block, which the server calls on threads."""

    def add(self, request: AddRequest) -> None:
        """Done."""

    def search(self, request: SearchRequest) -> Sequence[Memory]:
        """The same every time."""
        return _FOUND if request.user_id == SOMEBODY else ()


async def _add(request: Request) -> Response:
    made = AddRequest.model_validate_json(await request.body())
    answer = {
        "success": True,
        "request_id": made.request_id,
        "user_id": made.user_id,
        "session_id": made.session_id,
    }
    return Response(to_json(answer), media_type="application/json")


async def _search(request: Request) -> Response:
    made = SearchRequest.model_validate_json(await request.body())
    found = SearchResponse(data=_FOUND if made.user_id == SOMEBODY else [])
    return Response(found.model_dump_json(exclude_none=True), media_type="application/json")


def bare() -> ASGIApp:
    """What anyone would write who keeps nothing of the contract but its shapes."""
    return Starlette(
        routes=[
            Route("/add", _add, methods=["POST"]),
            Route("/search", _search, methods=["POST"]),
        ]
    )


def sdk() -> ASGIApp:
    """The SDK's server at its best: no threads, no log, a ledger in memory."""
    return create_app(Nothing())


def threads() -> ASGIApp:
    """The SDK's server as ``aml serve`` runs a memory: methods that block, a log."""
    configure(sys.stderr)
    return create_app(OnThreads())


APPS = {"bare": bare, "sdk": sdk, "threads": threads}


def main() -> None:
    """Serve one of them, with the settings of ``aml serve``."""
    parser = argparse.ArgumentParser()
    parser.add_argument("app", choices=APPS)
    parser.add_argument("--port", type=int, required=True)
    options = parser.parse_args()
    uvicorn.run(
        APPS[options.app](),
        port=options.port,
        log_config=None,
        access_log=False,
        server_header=False,
        ws="none",
        backlog=4096,
        timeout_keep_alive=120,
    )


if __name__ == "__main__":
    main()
