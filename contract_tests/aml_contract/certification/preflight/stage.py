"""The stage ``preflight``: whether the platform could reach the endpoint and talk to it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import aclosing, asynccontextmanager
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any, ClassVar

from aml_contract.certification.grounds import Ground, judged, remark
from aml_contract.certification.preflight import answers, origins, pace, urls
from aml_contract.certification.preflight.calls import Caller
from aml_contract.certification.preflight.document import Preflight
from aml_contract.certification.stage import Basis, Context, Judgement
from aml_contract.endpoint.http import (
    HTTPEndpoint,
    Unreachable,
    ignored_proxies,
    open_endpoint,
    unreachable_message,
)
from aml_contract.endpoint.target import Target

_WAIT = 120.0
"""Seconds that an answer is waited for: proxies wait no longer (clause F2), nor do people."""


class PreflightStage:
    """Looks at names, addresses and certificates, and sends some twenty requests."""

    name: ClassVar[str] = "preflight"

    async def measure(self, context: Context) -> dict[str, Any]:
        """Measure; nothing is sent to private addresses unless the context allows them.

        Returns:
            :class:`~aml_contract.certification.preflight.document.Preflight` as JSON.

        Raises:
            Unreachable: no host takes a connection.
        """
        declared = _declared_wait(context)
        wait = min(declared, context.target.timeout, _WAIT)
        async with _opened(replace(context.target, timeout=wait)) as endpoint:
            seen = Preflight(
                at=datetime.now(UTC),
                allow_private=context.allow_private,
                add_url=endpoint.add_url,
                search_url=endpoint.search_url,
                health_url=endpoint.health_url,
                scheme=str(endpoint.auth.scheme),
                wait=wait,
                declared=declared,
                proxies=list(ignored_proxies()),
                origins=await origins.looked_up(endpoint.urls),
            )
            if context.allow_private or not any(origin.private for origin in seen.origins):
                await _ask(seen, endpoint, context)
        return seen.model_dump(mode="json")

    def judge(self, data: Mapping[str, Any], basis: Basis) -> Judgement:
        """Judge by names, addresses, certificates, answers and times."""
        del basis
        seen = Preflight.model_validate(data)
        return judged(_grounds(seen), _good(seen))


def _declared_wait(context: Context) -> float:
    """The longest that an answer may take, as it is declared; else as it is set."""
    declared = context.basis.declaration
    times = (declared.add_timeout, declared.search_timeout)
    return max((time for time in times if time), default=context.target.timeout)


@asynccontextmanager
async def _opened(target: Target) -> AsyncIterator[HTTPEndpoint]:
    """The endpoint; of a stranger's nothing is asked yet, so that first calls are first."""
    if target.managed:
        async with open_endpoint(target) as endpoint:
            yield endpoint
    else:
        async with aclosing(HTTPEndpoint(target.urls(), target.credentials, target)) as endpoint:
            yield endpoint


async def _ask(seen: Preflight, endpoint: HTTPEndpoint, context: Context) -> None:
    for origin in seen.origins:
        await origins.connect(origin, endpoint.target.connect_timeout)
        addresses = ", ".join(door.address for door in origin.doors) or origin.error
        context.say(f"{origin.host}:{origin.port} → {addresses}")
    troubles = [origin.trouble for origin in seen.origins]
    if all(troubles):
        raise Unreachable(unreachable_message(endpoint, troubles[0] or ""))
    if not any(troubles) and all(origin.secure for origin in seen.origins):
        caller = Caller(endpoint, patience=context.patience, say=context.say)
        seen.calls = await caller.all()


def _grounds(seen: Preflight) -> Iterator[Ground]:
    yield from urls.grounds(seen)
    for origin in seen.origins:
        yield from origins.grounds(origin, seen.at, allow_private=seen.allow_private)
    yield from answers.grounds(seen)
    yield from pace.grounds(seen.calls)
    if seen.proxies:
        yield remark(
            f"Proxy variables are set here and were passed by: {', '.join(seen.proxies)}.",
            "nothing is to be done: the platform does not come through your proxy",
        )


def _good(seen: Preflight) -> str:
    parts = [f"{seen.add_url} answers"]
    ends = [
        door.tls.certificate.ends
        for origin in seen.origins
        for door in origin.doors
        if door.tls and door.tls.certificate
    ]
    if ends:
        parts.append(f"its certificate lasts {(min(ends) - seen.at).days} days")
    others = [f"{call.key}: {call.answer}" for call in seen.calls if call.key in answers.SCHEMES]
    parts.append(f"key as {seen.scheme}" + (f" ({', '.join(others)})" if others else ""))
    if first := pace.ordinary(seen.calls, "search"):
        parts.append(f"the first Search took {first[0].seconds:.2f} s")
    return "; ".join(parts) + "."
