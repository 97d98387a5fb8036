"""An endpoint: the three URLs and the key that rules talk to, and its process if we own it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractAsyncContextManager
from typing import Protocol

from aml_contract.endpoint.auth import Auth
from aml_contract.endpoint.operator import Faults
from aml_contract.endpoint.raw import RawConnection
from aml_contract.endpoint.target import Target
from aml_contract.exchange import Exchange, Operation


class Process(Protocol):
    """A server that the kit may stop and start."""

    @property
    def can_kill(self) -> bool:
        """Whether :meth:`kill` is possible (false for ``--restart-cmd``)."""
        ...

    async def kill(self) -> None:
        """``kill -9`` the whole process group, now."""
        ...

    async def start(self) -> None:
        """Start it again on the same data and wait until health answers."""
        ...

    async def restart(self) -> None:
        """Stop politely (SIGTERM, or the operator's command), start, await health."""
        ...

    async def ensure(self) -> None:
        """Start it if it was left stopped."""
        ...

    @property
    def died(self) -> str | None:
        """How it ended by itself, in words; ``None`` while it runs or was stopped."""
        ...

    @property
    def complaints(self) -> str:
        """The last errors in its log, as indented lines; empty if there is none to read."""
        ...


class Endpoint(Protocol):
    """What a rule's trial sends through."""

    target: Target
    """What the user asked for."""

    add_url: str
    search_url: str
    health_url: str
    auth: Auth
    """The scheme and key, for rules about keys; never show the key."""
    add_concurrency: int
    """Adds in flight at most, as declared (clause L1)."""
    search_concurrency: int
    """Searches in flight at most, as declared (clause L1)."""

    @property
    def process(self) -> Process | None:
        """The server's process, if it may be stopped and started."""
        ...

    @property
    def faults(self) -> Faults | None:
        """The operator's commands that break and heal, if they were given."""
        ...

    async def answers(self) -> str | None:
        """``None`` if anything answers at the URLs, else why not, in words."""
        ...

    async def send(  # noqa: PLR0913  what can be varied in a request
        self,
        operation: Operation,
        body: bytes | None,
        *,
        method: str | None = None,
        headers: Mapping[str, str] | None = None,
        auth: Mapping[str, str] | None = None,
        fresh: bool = False,
        url: str | None = None,
    ) -> Exchange:
        """Send one request within the declared concurrency; never raises for the network."""
        ...

    async def room(self) -> None:
        """Wait until a request could be sent at once, as nobody waits for a place."""
        ...

    def lanes(self, *, adds: int, searches: int) -> AbstractAsyncContextManager[None]:
        """Give Adds and Searches places of their own; for rules that run alone."""
        ...

    def raw(
        self, operation: Operation, record: Callable[[Exchange], None]
    ) -> AbstractAsyncContextManager[RawConnection]:
        """A connection of its own, within the declared concurrency; may raise ``OSError``."""
        ...
