"""A memory system on HTTP: one process, one data directory, until SIGTERM or Ctrl-C."""

from __future__ import annotations

import os
import socket
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import uvicorn
from fastapi import FastAPI

from aml_sdk.errors import AMLError, Misconfigured
from aml_sdk.ledger import SQLiteLedger
from aml_sdk.server import Settings, create_app
from aml_sdk.server.logs import configure
from aml_servers.finding import find_system, make_system
from aml_servers.forgetting import remember

_BACKLOG = 4096
"""Connections that may wait to be accepted: bursts are queued, not reset."""
_KEEP_ALIVE = 120
"""Seconds that an idle connection stays: longer than clients keep theirs, so that none is
closed in the moment in which it is used again."""


def build_app(name: str, data_dir: Path, settings: Settings) -> FastAPI:
    """The application around the named system, its ledger beside its data.

    Raises:
        Misconfigured: the system cannot be found or made.
        DataDirectoryBusy: another process owns the directory.
    """
    system_class = find_system(name)
    try:
        ledger = SQLiteLedger(data_dir)
    except OSError as error:
        raise Misconfigured(f"the data directory cannot be used: {error}") from error
    try:
        system = make_system(system_class, data_dir)
        remember(name, data_dir)
    except AMLError:
        raise
    except Exception as error:
        words = f"{type(error).__name__}: {error}"
        raise Misconfigured(f"{name} could not be made: {words}") from error
    return create_app(system, ledger=ledger, settings=settings)


def key_from_environment(variable: str | None) -> str:
    """The key that clients must send.

    Raises:
        Misconfigured: the variable is not given, not set or empty; a server that was meant to
            ask for a key must not start without one.
    """
    if not variable:
        raise Misconfigured("name the variable that holds the key: --key-env VAR")
    key = os.environ.get(variable, "").strip()
    if not key:
        raise Misconfigured(f"the variable {variable} that should hold the key is unset or empty")
    return key


def bind(host: str, port: int) -> socket.socket:
    """A socket on the address, not yet listening; port 0 lets the system choose.

    Raises:
        Misconfigured: the address is in use or is none of this machine.
    """
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        bound = socket.socket(family, kind, protocol)
        if os.name == "posix":
            # A restart must not wait for connections of its predecessor to time out.
            bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        bound.bind(address)
    except (OSError, OverflowError) as error:
        raise Misconfigured(f"cannot listen on {host}:{port}: {error}") from error
    return bound


@dataclass(frozen=True)
class Ready:
    """What is known once the server answers."""

    name: str
    url: str
    data_dir: Path
    auth: str

    def __str__(self) -> str:
        return f"serving {self.name} on {self.url} (data in {self.data_dir}, auth {self.auth})"


def serve(
    name: str,
    bound: socket.socket,
    data_dir: Path,
    settings: Settings,
    *,
    when_ready: Callable[[Ready], None],
) -> None:
    """Serve until SIGTERM or Ctrl-C; then finish what is under way, close and return.

    Logs go to standard error, one JSON object a line.

    Raises:
        Misconfigured: the system cannot be found, made or started.
        DataDirectoryBusy: another process owns the directory.
    """
    configure(sys.stderr)
    app = build_app(name, data_dir, settings)
    host, port = bound.getsockname()[:2]
    url = f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"
    config = uvicorn.Config(
        app,
        log_config=None,
        access_log=False,
        server_header=False,
        ws="none",
        lifespan="on",
        backlog=_BACKLOG,
        timeout_keep_alive=_KEEP_ALIVE,
        timeout_graceful_shutdown=None,
    )
    server = _AnnouncedServer(config, lambda: when_ready(Ready(name, url, data_dir, settings.auth)))
    try:
        server.run(sockets=[bound])
    except KeyboardInterrupt:
        return  # uvicorn raises it again after it has shut down in good order
    except SystemExit:
        raise Misconfigured(f"{name} could not be started; the log says why") from None
    except OSError as error:  # another process took the address since it was bound
        raise Misconfigured(f"cannot listen on {url}: {error}") from error


class _AnnouncedServer(uvicorn.Server):
    """Says when it listens."""

    def __init__(self, config: uvicorn.Config, announce: Callable[[], None]) -> None:
        super().__init__(config)
        self._announce = announce

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets=sockets)
        if self.started:
            self._announce()
