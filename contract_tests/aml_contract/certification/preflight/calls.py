"""Calls: the few requests that a preflight sends, and what came back."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Mapping
from datetime import UTC
from email.utils import parsedate_to_datetime
from time import time
from typing import Any, Literal
from urllib.parse import urlsplit

from aml_contract.body import dump
from aml_contract.documented import Documented
from aml_contract.endpoint.auth import Scheme, key_header
from aml_contract.endpoint.http import HTTPEndpoint
from aml_contract.endpoint.retry import send_again
from aml_contract.exchange import Exchange, NotStrictJSONError, Operation

LATER = 3
"""Calls that the first of their kind is compared with."""
_ATTEMPTS = 8
"""Tries of an ordinary request: a server that wakes up may answer 503 for a quarter minute."""
_ATTEMPTS_WITH_OTHERS = 3
"""Tries of one with another key."""
_SILENCE = "no answer within"
_SCHEMES = (Scheme.BEARER, Scheme.TOKEN, Scheme.X_API_KEY)


class Call(Documented):
    """One request and its answer."""

    operation: Literal["add", "search", "health"]
    url: str
    method: str
    key: str
    """`right`, `wrong`, `none`, or the scheme of the right key where it is another."""
    answer: str
    """Its status, or what happened on the wire."""
    status: int | None
    seconds: float
    """How long the first try took."""
    tries: int
    fits: bool | None = None
    """Whether a 200 has the form that was asked for."""
    location: str | None = None
    """Where a redirection points, without its query."""
    skew: float | None = None
    """Seconds by which the server's clock is before ours, give or take half a second."""

    @property
    def named(self) -> str:
        """The request in words, as the beginning of a sentence."""
        keys = {"wrong": " with a wrong key", "none": " without a key", "right": ""}
        if self.operation == "health" and self.method == "GET":
            return "Health"
        name = "An Add" if self.operation == "add" else "A Search"
        return name + keys.get(self.key, f" with the key as {self.key}")

    @property
    def unanswered(self) -> bool:
        """Whether it was waited for in vain, on a connection that stood."""
        return self.answer.startswith(_SILENCE)

    @property
    def outcome(self) -> str:
        """What came of it, as words that follow :attr:`named`."""
        return f"{'ends with' if self.status is None else 'is answered'} {self.answer}"


class Caller:
    """Sends the requests of a preflight, one after another, for users of its own.

    Args:
        endpoint: what sends them.
        patience: scales the waits between tries.
        say: told each request and its answer.
    """

    def __init__(
        self, endpoint: HTTPEndpoint, *, patience: float, say: Callable[[str], None]
    ) -> None:
        self._endpoint = endpoint
        self._patience = patience
        self._say = say
        self._name = f"aml-preflight:{secrets.token_hex(8)}"
        self._sent = 0
        self.calls: list[Call] = []

    async def all(self) -> list[Call]:
        """Send everything: a first and some later calls, other keys, HEAD."""
        endpoint, auth = self._endpoint, self._endpoint.auth
        await self._call("health", url=endpoint.health_url, key="none", headers={})
        origin = "{0.scheme}://{0.netloc}/health".format(urlsplit(endpoint.add_url))
        if endpoint.health_url != origin:
            await self._call("health", url=origin, key="none", headers={})
        for operation in ("search", "add"):
            for _ in range(1 + LATER):
                await self._call(operation)
                if self.calls[-1].unanswered:
                    return self.calls  # each further one would be waited for as long
        if auth.scheme is not Scheme.NONE:
            wrong = key_header(auth.scheme, f"aml-preflight-{secrets.token_hex(12)}")
            for key, headers in (("none", {}), ("wrong", wrong)):
                await self._call("add", key=key, headers=headers)
                await self._call("search", key=key, headers=headers)
            for scheme in _SCHEMES:
                if scheme is not auth.scheme:
                    headers = key_header(scheme, auth.key)
                    await self._call("search", key=scheme, headers=headers)
        await self._call("add", method="HEAD")
        await self._call("search", method="HEAD")
        return self.calls

    async def _call(
        self,
        operation: Operation,
        *,
        url: str | None = None,
        method: str | None = None,
        key: str = "right",
        headers: Mapping[str, str] | None = None,
    ) -> None:
        body = None if operation == "health" or method else self._body(operation)
        seconds: list[float] = []
        skew: list[float | None] = []

        async def once(_: int) -> Exchange:
            began = time()
            made = await self._endpoint.send(operation, body, method=method, url=url, auth=headers)
            seconds.append(made.seconds)
            skew.append(_skew(made, began))
            if (made.error or "").startswith(_SILENCE):
                raise _Silence(made)
            return made

        attempts = _ATTEMPTS if key == "right" else _ATTEMPTS_WITH_OTHERS
        try:
            made = await send_again(once, attempts=attempts, patience=self._patience, heed=True)
        except _Silence as silence:
            made = silence.made
        call = Call(
            operation=operation,
            url=made.url,
            method=made.method,
            key=key,
            answer=made.summary,
            status=made.status,
            seconds=seconds[0],
            tries=len(seconds),
            fits=_fits(made) if made.status == 200 and body else None,
            location=self._location(made),
            skew=skew[-1],
        )
        self.calls.append(call)
        shown = f", key {key}" if key != "right" else ""
        self._say(f"{made.method} {made.url}{shown} → {made.summary}, {call.seconds:.2f} s")

    def _body(self, operation: Operation) -> bytes:
        """A body like no other, so that no cache answers it."""
        self._sent += 1
        user, text = f"{self._name}:user", f"note {self._sent} of {self._name}"
        body: dict[str, Any]
        if operation == "search":
            body = {"query": f"What says {text}?", "user_id": user, "top_k": 100}
        else:
            body = {
                "request_id": f"{self._name}:{self._sent}",
                "user_id": user,
                "session_id": f"{self._name}:session",
                "messages": [{"role": "user", "content": f"This is {text}."}],
            }
        return dump(body)

    def _location(self, made: Exchange) -> str | None:
        found = made.reply_headers.get("location")
        if found is None or made.status is None or not 300 <= made.status < 400:
            return None
        return self._endpoint.auth.redact(found.partition("?")[0])


class _Silence(Exception):  # noqa: N818  no error: a reason not to send again
    """A request that was waited for in vain; a second wait would teach nothing."""

    def __init__(self, made: Exchange) -> None:
        super().__init__(made.error)
        self.made = made


def _fits(made: Exchange) -> bool:
    """Whether an answer looks like that of Add or Search; the contract stage looks closely."""
    try:
        answer = made.json
    except NotStrictJSONError:
        return False
    if not isinstance(answer, dict):
        return False
    if made.operation == "add":
        return answer.get("success") is True
    return isinstance(answer.get("data"), list)


def _skew(made: Exchange, began: float) -> float | None:
    """The server's clock before ours: its Date has whole seconds, written as it answered."""
    try:
        date = parsedate_to_datetime(made.reply_headers["date"])
    except (KeyError, ValueError):
        return None
    date = date if date.tzinfo else date.replace(tzinfo=UTC)
    return date.timestamp() + 0.5 - (began + made.seconds / 2)
