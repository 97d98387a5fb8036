"""Asking an endpoint harmless questions: where it answers, and how it wants its key.

Nothing is stored: Add is sent an empty object alone, which holds no message and must be
refused, and Search asks for a user whom nobody has.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Callable
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from aml_contract.endpoint.auth import Scheme, key_header
from aml_contract.endpoint.http import HTTPEndpoint
from aml_contract.exchange import Exchange

PATHS = (
    ("/add", "/search"),
    ("/v1/add", "/v1/search"),
    ("/v1/memories/add", "/v1/memories/search"),
    ("/v1/memory/add", "/v1/memory/search"),
    ("/memories/add", "/memories/search"),
    ("/memory/add", "/memory/search"),
    ("/api/add", "/api/search"),
    ("/api/v1/add", "/api/v1/search"),
)
"""Where Add and Search have been seen (clause E2), the most frequent first."""
HEALTH = ("/health", "/healthz", "/v1/health", "/api/health")
_SCHEMES = (Scheme.BEARER, Scheme.X_API_KEY, Scheme.TOKEN)
_DENIED = frozenset({401, 403})
_ABSENT = frozenset({404, 405, 410, 501})
_TOP_K = 100


@dataclass
class Answers:
    """What an endpoint said. A URL that was not found is ``None``."""

    add: str | None = None
    search: str | None = None
    health: str | None = None
    wants_key: bool = False
    """Whether it refuses requests without a key."""
    scheme: Scheme | None = None
    """The scheme under which the key was taken."""
    remarks: list[str] = field(default_factory=list)
    """What a builder should know, one sentence each."""
    asked: int = 0


class Asking:
    """A series of questions, one after another.

    Args:
        endpoint: what sends them.
        base: where paths begin, without a slash at its end.
        key: the key to try; empty for none.
        say: told each question and its answer.
    """

    def __init__(
        self, endpoint: HTTPEndpoint, base: str, key: str, say: Callable[[str], None]
    ) -> None:
        self._endpoint = endpoint
        self._base = base
        self._origin = "{0.scheme}://{0.netloc}".format(urlsplit(base))
        self._key = key
        self._say = say
        self._answers = Answers()

    async def all(
        self, add: str | None = None, search: str | None = None, health: str | None = None
    ) -> Answers:
        """Ask everything.

        Args:
            add: the Add URL, if it is known already.
            search: the Search URL, if it is known already.
            health: the health URL, if it is known already.
        """
        answers = self._answers
        lost = await self._post(f"{self._base}/aml-{secrets.token_hex(6)}")
        made = None
        if add and search:
            answers.add, answers.search = add, search
        else:
            made = await self._find(lost)
        answers.health = await (self._known_health(health) if health else self._health(lost))
        if answers.add and answers.search:
            self._judge_empty_add(made or await self._post(answers.add))
            await self._search(answers.search)
        return answers

    async def _find(self, lost: Exchange) -> Exchange | None:
        """Look for Add and Search among the usual paths; what Add said to an empty object.

        Args:
            lost: how a path is answered that is surely not there.
        """
        bases = dict.fromkeys((self._base, self._origin))
        pairs = [(f"{at}{add}", f"{at}{search}") for at in bases for add, search in PATHS]
        if lost.status not in _ABSENT:
            self._remark(
                f"a path that is not there is answered {lost.summary}, so that asking cannot tell "
                "where Add and Search are; the usual paths are taken"
            )
            self._answers.add, self._answers.search = pairs[0]
            return None
        for add, search in pairs:
            made = await self._post(add)
            if made.status is not None and made.status not in _ABSENT and not _is_page(made):
                self._answers.add, self._answers.search = add, search
                return made
        return None

    async def _health(self, lost: Exchange) -> str | None:
        bases = (self._base, self._origin)
        urls = dict.fromkeys(f"{at}{path}" for path in HEALTH for at in bases)
        for url in urls:
            made = await self._ask("GET", url)
            if made.status is not None and 200 <= made.status < 300:
                if _same(made, lost):
                    break
                return url
            if made.status in _DENIED:
                self._remark(f"{url} wants a key; health must be open (clause K2)")
        self._remark(
            "no health path was found; the platform asks /health on the Add URL's origin (E3)"
        )
        return None

    async def _known_health(self, url: str) -> str:
        made = await self._ask("GET", url)
        if made.status is None or not 200 <= made.status < 300:
            self._remark(f"health at {url} is answered {made.summary}; it must be 2xx (E3, K2)")
        return url

    def _judge_empty_add(self, made: Exchange) -> None:
        if made.status in _DENIED:
            self._remark(
                "the key is refused under every scheme"
                if self._key
                else "it wants a key: put it into a variable, and name that as key_env"
            )
        elif made.status is not None and made.status < 300:
            self._remark("an empty Add is accepted: what holds no message must be refused (A4)")
        elif made.status is not None and made.status >= 500:
            self._remark(
                f"an empty Add is answered {made.status}; what can never succeed is 4xx (F3)"
            )
        if self._key and not self._answers.wants_key:
            self._remark("it answers without a key too, which only public Smoke runs may (K1)")

    async def _search(self, url: str) -> None:
        user = f"aml-init:{secrets.token_hex(8)}"
        body = {"query": "What did nobody ever say?", "user_id": user, "top_k": _TOP_K}
        made = await self._ask("POST", url, json.dumps(body).encode(), self._answers.scheme)
        if made.status == 200 and _items(made) == 0:
            return
        if made.status in _DENIED:
            return  # said of Add already
        found = _items(made)
        what = f"200 with {found} items" if made.status == 200 and found else made.summary
        self._remark(
            f"a Search for a user never seen, top_k {_TOP_K}, is answered {what}; "
            'it must be 200 with {"data": []} (S11)'
        )

    async def _post(self, url: str) -> Exchange:
        """Send an empty object; where that is denied, under each scheme until one is not."""
        made = await self._ask("POST", url, b"{}", self._answers.scheme)
        if made.status not in _DENIED or self._answers.scheme:
            return made
        self._answers.wants_key = True
        for scheme in _SCHEMES if self._key else ():
            made = await self._ask("POST", url, b"{}", scheme)
            if made.status not in _DENIED:
                self._answers.scheme = scheme
                break
        return made

    async def _ask(
        self, method: str, url: str, body: bytes | None = None, scheme: Scheme | None = None
    ) -> Exchange:
        auth = key_header(scheme, self._key) if scheme else {}
        made = await self._endpoint.send(
            "health", body, method=method, url=url, auth=auth, fresh=True
        )
        self._answers.asked += 1
        words = f" {body.decode()}" if body else ""
        key = f", key as {scheme}" if scheme else ""
        self._say(f"{method} {url}{words}{key} → {made.summary}")
        return made

    def _remark(self, text: str) -> None:
        if text not in self._answers.remarks:
            self._answers.remarks.append(text)


def _is_page(made: Exchange) -> bool:
    return "html" in made.reply_headers.get("content-type", "")


def _same(made: Exchange, lost: Exchange) -> bool:
    return made.status == lost.status and made.reply == lost.reply


def _items(made: Exchange) -> int | None:
    try:
        data = json.loads(made.reply)["data"]
    except (ValueError, LookupError, TypeError):
        return None
    return len(data) if isinstance(data, list) else None
