"""An asynchronous client of the contract.

Generated from ``proto/aml/memory/v1/memory.proto`` by ``scripts/generate``; do not edit.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Protocol, Self, TypeVar
from urllib.parse import urlsplit

from pydantic import BaseModel, ValidationError

from aml_sdk._gen import models
from aml_sdk.errors import AMLError

if TYPE_CHECKING:
    import httpx

_Answer = TypeVar("_Answer", bound=BaseModel)

TIMEOUT = 1800.0
"""Seconds that a request may take: the platform's own limit (clause F2)."""

KEY_SCHEMES: Mapping[str, tuple[str, str]] = {
    "bearer": ("Authorization", "Bearer "),
    "token": ("Authorization", "Token "),
    "x-api-key": ("X-Api-Key", ""),
}
"""How a key travels: the header, and what stands before the key in it (clause K1)."""

_PATHS = {
    "add": "/add",
    "search": "/search",
    "health": "/health",
}


class HTTPResponse(Protocol):
    """What is read of an answer."""

    @property
    def status_code(self) -> int: ...

    @property
    def content(self) -> bytes: ...


class HTTPClient(Protocol):
    """What is asked of an HTTP client: ``httpx.AsyncClient`` and that of httpx2 have it."""

    async def request(
        self,
        method: str,
        url: str,
        *,
        content: bytes | None,
        headers: Mapping[str, str],
        follow_redirects: bool,
    ) -> HTTPResponse: ...


class UnexpectedAnswer(AMLError):
    """The endpoint did not answer as it should have: another status, or another shape."""

    def __init__(self, status: int, reason: str) -> None:
        super().__init__(f"HTTP {status}: {reason}")
        self.status = status
        """The HTTP status; 200 where only the body was wrong (clause A13)."""
        self.reason = reason
        """The endpoint's own words where it gave any, else ours."""


class MemoryClient:
    """The endpoint's operations as methods. It sends each request once and follows no redirect.

    What the HTTP client raises, a refused connection for instance, passes through.
    """

    def __init__(
        self,
        base_url: str | None = None,
        *,
        add_url: str | None = None,
        search_url: str | None = None,
        health_url: str | None = None,
        auth: str = "none",
        key: str | None = None,
        headers: Mapping[str, str] | None = None,
        client: HTTPClient | None = None,
    ) -> None:
        """Name the endpoint.

        Args:
            base_url: Stands for ``BASE/add``, ``BASE/search``, ``BASE/health``.
            add_url: The exact URL of Add, if it is another.
            search_url: The exact URL of Search, if it is another.
            health_url: The exact health URL; without it and without ``base_url`` it is
                ``/health`` on the origin of the Add URL (clause E3).
            auth: How the key travels: ``bearer``, ``token``, ``x-api-key``, or ``none`` (clause K1).
            key: The key.
            headers: More headers for the requests that carry the key.
            client: The HTTP client to use; it stays the caller's to close. Without it one is made,
                with a timeout of 30 minutes (clause F2).

        Raises:
            ValueError: a URL is missing, the scheme is unknown, or a key is missing or superfluous.
        """
        self._urls = _urls(
            base_url,
            {"add": add_url, "search": search_url, "health": health_url},
        )
        self._headers = {**(headers or {}), **_key_header(auth, key)}
        self._owned: httpx.AsyncClient | None = None
        if client is None:
            import httpx  # not at the top: whoever brings a client need not wait for it

            client = self._owned = httpx.AsyncClient(timeout=TIMEOUT)
        self._client: HTTPClient = client

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        """Close the connections, unless the HTTP client is the caller's."""
        if self._owned is not None:
            await self._owned.aclose()

    async def add(self, request: models.AddRequest) -> models.AddResponse:
        """Store a chunk of one conversation. Success is HTTP 200, given only after every message is
        durable and findable (clause A12); 201, 202 and 204 are violations (clause A13). A batch
        is stored whole or not at all (clause A14). The same user_id, request_id and body come
        again after a failure: the answer is the same success and nothing is stored twice
        (clause R1). The same two ids with another body are refused, with 422 (clause R4).

        Raises:
            UnexpectedAnswer: the status is not 200, or the body has another shape.
        """
        return await self._post("add", request, models.AddResponse)

    async def search(self, request: models.SearchRequest) -> models.SearchResponse:
        """Find what one user's memory holds about a question. It sees all that was acknowledged
        (clause S13), and nothing of other users (clause L2). Nothing found, or a user never
        seen, is an empty list (clause S11). It answers with stored memories, never with a
        generated answer (clause S12).

        Raises:
            UnexpectedAnswer: the status is not 200, or the body has another shape.
        """
        return await self._post("search", request, models.SearchResponse)

    async def health(self) -> bool:
        """Whether the endpoint can serve: any 2xx says so, the body is not read, no key is asked
        for (clause E3).
        """
        answer = await self._client.request(
            "GET", self._urls["health"], content=None, headers={}, follow_redirects=False
        )
        return 200 <= answer.status_code < 300

    async def _post(self, operation: str, request: BaseModel, answer: type[_Answer]) -> _Answer:
        response = await self._client.request(
            "POST",
            self._urls[operation],
            content=request.model_dump_json(exclude_none=True).encode(),
            headers={**self._headers, "Content-Type": "application/json"},
            follow_redirects=False,
        )
        if response.status_code != 200:
            raise UnexpectedAnswer(response.status_code, _reason(response.content))
        try:
            return answer.model_validate_json(response.content)
        except ValidationError as error:
            raise UnexpectedAnswer(200, _first_fault(error)) from error


def _urls(base_url: str | None, given: Mapping[str, str | None]) -> dict[str, str]:
    urls = {name: url for name, url in given.items() if url}
    if base_url is not None:
        base = base_url.rstrip("/")
        urls = {name: base + path for name, path in _PATHS.items()} | urls
    for name in ("add", "search"):
        if name not in urls:
            raise ValueError(f"base_url or {name}_url is needed")
    if "health" not in urls:
        add = urlsplit(urls["add"])
        urls["health"] = f"{add.scheme}://{add.netloc}/health"
    return urls


def _key_header(auth: str, key: str | None) -> dict[str, str]:
    if auth == "none":
        if key is not None:
            raise ValueError("a key needs a scheme, not none")
        return {}
    if auth not in KEY_SCHEMES:
        raise ValueError(f"{auth!r} is none of {', '.join(KEY_SCHEMES)}, none")
    if not key:
        raise ValueError(f"{auth} needs a key")
    header, prefix = KEY_SCHEMES[auth]
    return {header: prefix + key}


def _reason(body: bytes) -> str:
    try:
        return models.ErrorResponse.model_validate_json(body).detail.reason
    except ValidationError:
        return body[:200].decode(errors="replace").strip() or "no reason given"


def _first_fault(error: ValidationError) -> str:
    fault = error.errors(include_url=False, include_context=False, include_input=False)[0]
    place = ".".join(str(step) for step in fault["loc"])
    return f"{place}: {fault['msg']}" if place else fault["msg"]
