"""An endpoint over HTTP: one client for all ordinary exchanges of a run."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import aclosing, asynccontextmanager, closing

import httpx

from aml_contract.endpoint.advice import in_short, not_started, unreachable
from aml_contract.endpoint.auth import Auth
from aml_contract.endpoint.curl import curl
from aml_contract.endpoint.operator import Faults
from aml_contract.endpoint.places import PLACE, PlacesTransport, connections
from aml_contract.endpoint.probe import health_probe
from aml_contract.endpoint.process import CommandProcess, ManagedProcess, Say, StartError
from aml_contract.endpoint.raw import RawConnection, RawSettings, connect
from aml_contract.endpoint.reading import Reading, read, read_health
from aml_contract.endpoint.slots import Slots
from aml_contract.endpoint.target import Target, URLs
from aml_contract.endpoint.trouble import in_words
from aml_contract.exchange import Exchange, Operation

_PROBE_TIMEOUT = 10.0
"""Seconds that each of the three URLs has: a server that is only now woken up has all three."""
_PROBE_SILENCE = 2.0
"""Seconds of waiting that need no explanation."""
_PROXIES = ("http_proxy", "https_proxy", "all_proxy")


def _unheard(_: str) -> None:
    """Nobody wants to know what is being waited for."""


class Unreachable(Exception):  # noqa: N818  a state of the world, told to the user
    """Nothing answers at the target; the message holds the ``curl`` to try."""


class HTTPEndpoint:
    """Sends requests to one endpoint, never more at once than declared.

    Redirects are not followed (clause E6), proxy variables of the environment are
    ignored, connections are kept alive, except that a connection which brought a 5xx, or
    any refusal of a POST, is not used again: one finding must not become two.
    """

    def __init__(self, urls: URLs, auth: Auth, target: Target) -> None:
        self.urls = urls
        self.add_url = urls.add
        self.search_url = urls.search
        self.health_url = urls.health
        self.auth = auth
        self.target = target
        self.process: ManagedProcess | CommandProcess | None = None
        self.faults: Faults | None = None
        self._timeout = target.timeout
        self.add_concurrency = target.add_concurrency or target.concurrency
        self.search_concurrency = target.search_concurrency or target.concurrency
        self._slots = Slots(target.concurrency)
        self._lanes: dict[Operation, Slots] = {}
        self._began = time.perf_counter()
        self._unanswered: dict[object, tuple[float, Operation]] = {}
        self._kept = _client(target, PlacesTransport())
        self._fresh = _client(target, connections(keep=0))

    @property
    def longest_wait(self) -> tuple[float, Operation] | None:
        """The seconds since the oldest request in flight was sent, and its kind."""
        if not self._unanswered:
            return None
        began, operation = min(self._unanswered.values())
        return time.perf_counter() - began, operation

    async def room(self) -> None:
        """Wait until a request could be sent at once, as nobody waits for a place."""
        await self._slots.room()

    @asynccontextmanager
    async def lanes(self, *, adds: int, searches: int) -> AsyncIterator[None]:
        """Give Adds and Searches places of their own, instead of those they share.

        For rules that run alone: what they send together is the load they are about.

        Args:
            adds: Adds in flight at most.
            searches: Searches in flight at most.
        """
        self._lanes = {"add": Slots(adds), "search": Slots(searches)}
        try:
            yield
        finally:
            self._lanes = {}

    @asynccontextmanager
    async def raw(
        self, operation: Operation, record: Callable[[Exchange], None]
    ) -> AsyncIterator[RawConnection]:
        """A connection of its own for bytes that no client library would send.

        Args:
            operation: chooses the URL.
            record: is given every exchange.

        Raises:
            OSError: no connection came about.
        """
        settings = RawSettings(
            url=self.search_url if operation == "search" else self.add_url,
            auth=self.auth,
            timeout=self._timeout,
            clock=lambda: time.perf_counter() - self._began,
            record=record,
        )
        async with self._slots.one(), connect(settings) as connection:
            yield connection

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
        """Send one request; the network's troubles become an exchange without a status.

        Health takes none of the declared places: it must answer while Adds are busy.
        """
        sent = {} if body is None else {"content-type": "application/json"}
        sent |= self.auth.headers if auth is None else auth
        sent |= {name.lower(): value for name, value in (headers or {}).items()}
        request = (self._fresh if fresh else self._kept).build_request(
            method or ("GET" if operation == "health" else "POST"),
            url or {"add": self.add_url, "search": self.search_url}.get(operation, self.health_url),
            content=body,
            headers=[(name.encode(), value.encode()) for name, value in sent.items()],
        )
        if operation == "health":
            return await self._exchange(operation, request, sent, body or b"", fresh=fresh)
        lane = operation if operation in self._lanes else "any"
        slots = self._lanes.get(operation, self._slots)
        async with slots.one(ahead=operation == "search") as place:
            request.extensions[PLACE] = f"{lane} {place}"
            return await self._exchange(operation, request, sent, body or b"", fresh=fresh)

    async def answers(self, say: Say = _unheard) -> str | None:
        """``None`` if anything at all answers at the three URLs, else why not, in words.

        Args:
            say: told which URL is waited for, where that takes more than a moment.
        """
        urls = {self.health_url: "GET", self.add_url: "HEAD", self.search_url: "HEAD"}
        words: str | None = None
        for url, method in urls.items():
            wait = f"waiting for an answer from {url}, up to {_PROBE_TIMEOUT:g} s"
            told = asyncio.get_running_loop().call_later(_PROBE_SILENCE, say, wait)
            try:
                async with asyncio.timeout(_PROBE_TIMEOUT):
                    made = await self.send(
                        "health", None, method=method, url=url, auth={}, fresh=True
                    )
            except TimeoutError:
                words = words or f"no answer within {_PROBE_TIMEOUT:g} s"
                continue
            finally:
                told.cancel()
            if made.status is not None:
                return None
            words = words or made.error
        return words

    async def aclose(self) -> None:
        """Close every connection."""
        await self._kept.aclose()
        await self._fresh.aclose()

    async def _exchange(
        self,
        operation: Operation,
        request: httpx.Request,
        sent: Mapping[str, str],
        body: bytes,
        *,
        fresh: bool,
    ) -> Exchange:
        began = time.perf_counter()
        status: int | None = None
        reply_headers: dict[str, str] = {}
        reply, error = Reading(b""), None
        self._unanswered[request] = began, operation
        try:
            async with asyncio.timeout(self._timeout):
                response = await (self._fresh if fresh else self._kept).send(request, stream=True)
                try:
                    reply = await (read_health if operation == "health" else read)(response)
                    status = response.status_code
                    reply_headers = {k.lower(): v for k, v in response.headers.items()}
                finally:
                    await response.aclose()
        except TimeoutError:
            error = f"no answer within {self._timeout:g} s"
        except (httpx.LocalProtocolError, httpx.UnsupportedProtocol):
            raise
        except (httpx.TransportError, httpx.DecodingError) as trouble:
            error = in_words(trouble)
        finally:
            del self._unanswered[request]
        if error is not None:
            status, reply_headers, reply = None, {}, Reading(b"")
        return Exchange(
            operation=operation,
            method=request.method,
            url=str(request.url),
            headers=self.auth.shown_headers(sent),
            body=body,
            status=status,
            reply_headers=reply_headers,
            reply=reply.body,
            seconds=time.perf_counter() - began,
            started=began - self._began,
            error=error,
            cut=reply.cut,
        )


@asynccontextmanager
async def open_endpoint(target: Target, *, say: Say = _unheard) -> AsyncIterator[HTTPEndpoint]:
    """Start the target's server if it is a managed one, and see that something answers.

    Args:
        target: what to open.
        say: told what is being waited for.

    Raises:
        Unreachable: nothing answers, or the server did not come up.
    """
    opened = _started(target, say) if target.managed else _reached(target, say)
    async with opened as endpoint:
        yield endpoint


@asynccontextmanager
async def _started(target: Target, say: Say) -> AsyncIterator[HTTPEndpoint]:
    """The endpoint of a server that the kit starts, and ends."""
    auth = target.credentials
    process = ManagedProcess(
        target.command or "",
        data_dir=target.data_dir,
        start_timeout=target.start_timeout,
        ready_timeout=target.ready_timeout,
        say=say,
    )
    with closing(process):
        try:
            await process.launch(lambda port: health_probe(target.urls(port).health))
        except StartError as error:
            advice = not_started(str(error), process.command, process.port) or ""
            message = f"{error}{advice}\n  command: {process.command}"
            raise Unreachable(auth.redact(message)) from error
        async with aclosing(HTTPEndpoint(target.urls(process.port), auth, target)) as endpoint:
            endpoint.process = process
            if target.fault_cmd and target.heal_cmd:
                fault, heal = process.filled(target.fault_cmd), process.filled(target.heal_cmd)
                endpoint.faults = Faults(fault, heal)
            yield endpoint


@asynccontextmanager
async def _reached(target: Target, say: Say) -> AsyncIterator[HTTPEndpoint]:
    """The endpoint of a stranger's server."""
    async with aclosing(HTTPEndpoint(target.urls(), target.credentials, target)) as endpoint:
        if target.restart_cmd:
            probe = health_probe(endpoint.health_url)
            endpoint.process = CommandProcess(
                target.restart_cmd, probe, timeout=target.start_timeout
            )
        if target.fault_cmd and target.heal_cmd:
            endpoint.faults = Faults(target.fault_cmd, target.heal_cmd)
        if words := await endpoint.answers(say):
            raise Unreachable(unreachable_message(endpoint, words))
        yield endpoint


def unreachable_message(endpoint: HTTPEndpoint, words: str) -> str:
    """One message for an endpoint that does not answer, with the ``curl`` to try."""
    probe = Exchange("health", "GET", endpoint.health_url, {}, b"", None, {}, b"", 0.0, 0.0)
    urls = (endpoint.health_url, endpoint.add_url, endpoint.search_url)
    advice = unreachable(words, endpoint.health_url, ignored_proxies())
    return f"Nothing answers at {in_short(urls)}: {words}.{advice}\n  try  {curl(probe)}"


def ignored_proxies() -> tuple[str, ...]:
    """The proxy variables that are set and that the kit ignores (P6)."""
    return tuple(name for name in os.environ if name.lower() in _PROXIES)


def _client(target: Target, transport: httpx.AsyncBaseTransport) -> httpx.AsyncClient:
    return httpx.AsyncClient(
        transport=transport,
        follow_redirects=False,
        timeout=httpx.Timeout(None, connect=target.connect_timeout),
        headers={"user-agent": "aml-contract", "accept-encoding": "gzip, deflate"},
    )
