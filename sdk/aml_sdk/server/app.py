"""The ASGI application around a memory system."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from fastapi import FastAPI, Request
from fastapi.responses import Response
from starlette.exceptions import HTTPException

from aml_sdk._gen.router import document, document_bytes, make_routes
from aml_sdk.errors import Misconfigured
from aml_sdk.ledger import Ledger, MemoryLedger
from aml_sdk.server.handler import ContractHandler
from aml_sdk.server.problem import Problem
from aml_sdk.server.settings import Settings
from aml_sdk.system import MemorySystem


def create_app(
    system: MemorySystem, *, ledger: Ledger | None = None, settings: Settings | None = None
) -> FastAPI:
    """A server that keeps the whole contract, around any memory system.

    Run it by any ASGI server that speaks the lifespan protocol, in one process:
    ``uvicorn my_module:app``. The lifespan opens the ledger and discards unfinished Adds, and
    at the end waits for the Adds under way and closes the system and the ledger.

    Args:
        system: what remembers. The application closes it at shutdown.
        ledger: what remembers which Adds were stored. The default forgets at exit: give a
            durable system an :class:`aml_sdk.ledger.SQLiteLedger`.
        settings: key, limits and times; the defaults keep the contract and ask for no key.

    Raises:
        Misconfigured: ``forget_after`` is set, and the system cannot forget.
    """
    settings = settings or Settings()
    if settings.forget_after is not None and type(system).forget is MemorySystem.forget:
        name = type(system).__name__
        raise Misconfigured(f"forget_after is set, and {name} does not implement forget")
    handler = ContractHandler(system, ledger or MemoryLedger(), settings)

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        await handler.start()
        yield
        await handler.stop()

    app = FastAPI(
        title="AML memory",
        # What a library set up to report itself is told nothing of the requests (clause L3).
        telemetry={"tracing": False, "metrics": False, "logs": False},
        lifespan=lifespan,
        openapi_url=None,  # the committed document is served, not one made from the routes
        redirect_slashes=False,  # a redirect is no answer (clause E6)
        exception_handlers={HTTPException: _as_problem},
    )
    app.router.routes.extend(make_routes(handler))

    served = document_bytes()

    async def openapi(_: Request) -> Response:
        return Response(served, media_type="application/json")

    app.add_route("/openapi.json", openapi, include_in_schema=False)
    app.openapi = document  # type: ignore[method-assign]  # FastAPI's documented way
    return app


async def _as_problem(_: Request, error: Exception) -> Response:
    """404 and 405 of the routing, in the shape of every other error."""
    if not isinstance(error, HTTPException):  # FastAPI registers handlers for Exception types
        raise error
    return Problem(error.status_code, error.detail.lower(), headers=error.headers).response()
