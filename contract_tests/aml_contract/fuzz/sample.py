"""A sample: one generated request, in a form that can be sent again with fresh ids."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Self

from aml_contract.body import dump
from aml_contract.exchange import Exchange, Operation
from aml_contract.namespace import Marker
from aml_contract.trial import Trial

_IDS = ("request_id", "user_id", "session_id")
_LAST_DAY = 253402300799999
"""Milliseconds of the last moment of the year 9999."""


@dataclass(frozen=True)
class Canary:
    """A user that stored one memory before anything was generated."""

    user: str
    marker: Marker
    added: Exchange


async def planted_canaries(t: Trial) -> tuple[Canary, ...]:
    """Two canaries.

    Raises:
        NotTested: an ordinary Add was not accepted.
    """
    markers = [(t.ns.user("canary"), t.ns.marker()) for _ in range(2)]
    return tuple([Canary(user, m, await t.add(user, m.text)) for user, m in markers])


@dataclass(frozen=True)
class Sample:
    """A body as it was generated, without the prefix that its ids get when it is sent."""

    operation: Operation
    body: Any
    """A JSON value, or bytes that are none."""
    canary: int | None = None
    """Which canary a Search is made for: otherwise nothing is found."""
    asks: bool = False
    """Whether it asks the canary's question."""

    def named(self, prefix: str, canaries: tuple[Canary, ...]) -> Any:
        """The body to send: ids of this run, or those of a canary."""
        if not isinstance(self.body, Mapping):
            return self.body
        made = dict(self.body)
        for name in _IDS:
            if isinstance(made.get(name), str) and made[name]:
                made[name] = prefix + made[name]
        if self.canary is not None and self.operation == "search":
            chosen = canaries[self.canary % len(canaries)]
            made["user_id"] = chosen.user
            if self.asks:
                made["query"] = chosen.marker.query
        return made

    @property
    def size(self) -> int:
        """Bytes: of two samples with the same fault the shorter one is shown."""
        return len(self.body if isinstance(self.body, bytes) else dump(self.body))

    def as_json(self) -> dict[str, Any]:
        """For a report."""
        raw = isinstance(self.body, bytes)
        body = base64.b64encode(self.body).decode() if raw else self.body
        return {
            "operation": self.operation,
            "base64" if raw else "body": body,
            "canary": self.canary,
            "asks": self.asks,
        }

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> Self:
        """Read what :meth:`as_json` wrote.

        Raises:
            KeyError: it is something else.
        """
        raw = values.get("base64")
        body = values["body"] if raw is None else base64.b64decode(raw)
        return cls(values["operation"], body, values["canary"], values["asks"])


@dataclass(frozen=True)
class Oddity:
    """Something in a legal request that readers treat as a matter of robustness."""

    words: str
    tame: Callable[[Sample], Sample]
    """The same request without it."""


def _texts(change: Callable[[str], str]) -> Callable[[Sample], Sample]:
    def changed(value: Any) -> Any:
        if isinstance(value, str):
            return change(value) or "x"
        if isinstance(value, list):
            return [changed(one) for one in value]
        if isinstance(value, Mapping):
            return {k: v if k == "type" else changed(v) for k, v in value.items()}
        return value

    return lambda sample: replace(sample, body=changed(sample.body))


def _plain_query(sample: Sample) -> Sample:
    if sample.operation != "search" or not isinstance(sample.body, Mapping):
        return sample
    return replace(sample, body={**sample.body, "query": "x"})


def _plain_times(sample: Sample) -> Sample:
    def plain(message: Any) -> Any:
        time = message.get("timestamp")
        odd = time is not None and (time != int(time) or time > _LAST_DAY)
        return {**message, "timestamp": 0} if odd else message

    if not isinstance(sample.body, Mapping) or "messages" not in sample.body:
        return sample
    messages = [plain(message) for message in sample.body["messages"]]
    return replace(sample, body={**sample.body, "messages": messages})


ODDITIES = (
    Oddity(
        "control characters",
        _texts(lambda text: "".join(c for c in text if c.isprintable() or c.isspace())),
    ),
    Oddity("the query's text", _plain_query),
    Oddity("a fractional timestamp, or one past the year 9999", _plain_times),
)
"""Clauses A7 and A10, failure modes 12 and 51: a 5xx for these is no break of a MUST."""


def canonical(sample: Sample) -> str:
    """To compare two samples."""
    return json.dumps(sample.as_json(), sort_keys=True)
