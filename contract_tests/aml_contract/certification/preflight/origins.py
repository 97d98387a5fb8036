"""Origins: the hosts of the three URLs, their addresses, and whether these take connections."""

from __future__ import annotations

import asyncio
import errno
import socket
import time
from collections.abc import Iterator
from contextlib import suppress
from datetime import datetime
from urllib.parse import urlsplit

from pydantic import Field

from aml_contract.certification.grounds import (
    Ground,
    as_remark,
    open_question,
    remark,
    wrong,
)
from aml_contract.certification.preflight import certificates
from aml_contract.certification.preflight.addresses import Kind, kind_of
from aml_contract.certification.preflight.handshake import TLS, Peer, shake_hands
from aml_contract.documented import Documented
from aml_contract.endpoint.target import URLs
from aml_contract.endpoint.trouble import in_words

_LOOKUP_WAIT = 20.0
_SLOW_LOOKUP = 2.0
_ADDRESSES = 8
"""Addresses of one name that are tried."""
_NO_ROUTE = frozenset({errno.ENETUNREACH, errno.EADDRNOTAVAIL, errno.EAFNOSUPPORT})


class Door(Documented):
    """One address of a host, and what came of connecting to it."""

    address: str
    kind: Kind
    seconds: float | None = None
    """How long a TCP connection took."""
    error: str | None = None
    """Why there is none, in words."""
    no_route: bool = False
    """Whether this machine has no way there, as without IPv6."""
    tls: TLS | None = None


class Origin(Documented):
    """A host and a port, and what is asked there."""

    scheme: str
    host: str
    port: int
    serves: list[str]
    """`add`, `search` and `health`."""
    seconds: float = 0.0
    """How long looking its name up took."""
    error: str | None = None
    """Why its name was not found, in words."""
    doors: list[Door] = Field(default_factory=list)
    """One for each address, A and AAAA, in the order of the resolver."""

    @property
    def private(self) -> bool:
        """Whether the platform refuses one of its addresses (clause E5)."""
        return any(door.kind is not Kind.PUBLIC for door in self.doors)

    @property
    def trouble(self) -> str | None:
        """Why no connection was taken at any address, in words."""
        if self.error or any(door.seconds is not None for door in self.doors):
            return self.error
        return next((door.error for door in self.doors), "no address")

    @property
    def secure(self) -> bool:
        """Whether requests can be sent: TLS is trusted at every address that answers."""
        return all(door.tls is None or door.tls.trusted for door in self.doors)


async def looked_up(urls: URLs) -> list[Origin]:
    """The origins of the three URLs with their addresses; nothing is sent to them."""
    found: dict[tuple[str, str, int], Origin] = {}
    for name, url in (("add", urls.add), ("search", urls.search), ("health", urls.health)):
        parts = urlsplit(url)
        port = parts.port or (443 if parts.scheme == "https" else 80)
        key = parts.scheme, parts.hostname or "", port
        made = Origin(scheme=key[0], host=key[1], port=port, serves=[])
        found.setdefault(key, made).serves.append(name)
    for origin in found.values():
        await _look_up(origin)
    return list(found.values())


async def connect(origin: Origin, wait: float) -> None:
    """Connect to every address of an origin, over TLS too if it is ``https``.

    Args:
        origin: what :func:`looked_up` found; its doors are filled in.
        wait: seconds that each connection may take.
    """
    for door in origin.doors:
        began = time.perf_counter()
        try:
            async with asyncio.timeout(wait):
                _, writer = await asyncio.open_connection(door.address, origin.port)
        except TimeoutError:
            door.error = "no connection in time"
        except OSError as error:
            door.error, door.no_route = in_words(error), error.errno in _NO_ROUTE
        else:
            door.seconds = time.perf_counter() - began
            writer.close()
            with suppress(OSError):
                await writer.wait_closed()
            if origin.scheme == "https":
                door.tls = await shake_hands(Peer(door.address, origin.port, origin.host, wait))


def grounds(origin: Origin, at: datetime, *, allow_private: bool) -> Iterator[Ground]:
    """What is to be said of a host, its addresses and its certificates."""
    if origin.trouble and not (origin.private and not allow_private):
        yield _untaken(origin, origin.trouble)
    for door in origin.doors:
        if found := _refused(origin.host, door):
            yield as_remark(found) if allow_private else found
        if door.error and not origin.trouble:
            yield _dead(origin, door)
        if door.tls:
            yield from certificates.grounds(origin.host, door.tls, at, allow_private=allow_private)
    if origin.seconds > _SLOW_LOOKUP:
        yield remark(
            f"Looking {origin.host} up took {origin.seconds:.1f} s.",
            "see which of its name servers is slow",
        )
    if origin.scheme == "http" and not origin.private and origin.doors:
        yield remark(
            f"{origin.host} is registered with plain http: keys and memories can be read on the "
            "way.",
            "serve it over https",
            "E5",
        )


async def _look_up(origin: Origin) -> None:
    began = time.perf_counter()
    lookup = asyncio.get_running_loop().getaddrinfo(
        origin.host, origin.port, type=socket.SOCK_STREAM
    )
    try:
        async with asyncio.timeout(_LOOKUP_WAIT):
            found = await lookup
    except TimeoutError:
        origin.error = f"looking up its name took more than {_LOOKUP_WAIT:g} s"
    except (OSError, UnicodeError) as error:
        origin.error = in_words(error)
    else:
        addresses = dict.fromkeys(str(sockaddr[0]) for *_, sockaddr in found)
        origin.doors = [
            Door(address=each, kind=kind_of(each)) for each in list(addresses)[:_ADDRESSES]
        ]
    origin.seconds = time.perf_counter() - began


def _untaken(origin: Origin, trouble: str) -> Ground:
    what = " and ".join(name.capitalize() for name in origin.serves)
    sentence = f"{what} cannot be reached at {origin.host}:{origin.port}: {trouble}."
    if origin.doors and all(door.no_route for door in origin.doors):
        return open_question(sentence, "certify it from a machine that has a route there")
    return wrong(sentence, "correct the URL, or see that a server listens there")


def _refused(host: str, door: Door) -> Ground | None:
    """What is said of an address that is no public one."""
    if door.kind is Kind.PUBLIC:
        return None
    at = f"{host} is" if host == door.address else f"{host} resolves to {door.address},"
    if door.kind is Kind.INVENTED:
        return open_question(
            f"{at} an address that a proxy on this machine has invented.",
            "certify it from a machine whose names are looked up without a proxy",
            "E5",
        )
    what = f"a {door.kind} address"
    if door.kind is Kind.SHARED:
        what = "an address behind a provider's address translation"
    return wrong(
        f"{at} {what}.",
        "register a name whose every address is public; --allow-private is for rehearsals",
        "E5",
    )


def _dead(origin: Origin, door: Door) -> Ground:
    sentence = f"{origin.host} resolves to {door.address} too, which could not be reached"
    if door.no_route:
        return remark(f"{sentence} from here: this machine has no route there.")
    fix = "take the address out of its DNS records, or have a server listen there"
    return remark(f"{sentence}: {door.error}.", fix)
