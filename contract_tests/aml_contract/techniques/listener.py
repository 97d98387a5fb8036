"""A listener: a port of the kit's own that sees whether somebody fetches a URL."""

from __future__ import annotations

import asyncio
import contextlib
import ipaddress
import secrets
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from urllib.parse import urlsplit

_READ_TIMEOUT = 5.0


class Listener:
    """Knows whether its URL was asked for; nothing else can know the URL's name.

    ``within_reach`` is false where the endpoint lives on the public network and the kit
    behind a private address: then nothing can be seen.
    """

    def __init__(self, host: str, *, within_reach: bool) -> None:
        self.host = host
        self.within_reach = within_reach
        self.asked = False
        self.port = 0
        self._name = secrets.token_hex(8)

    @property
    def url(self) -> str:
        """What an endpoint must not fetch."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"http://{host}:{self.port}/{self._name}.png"

    async def handle(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Serve one connection: note the name, answer 404."""
        with contextlib.suppress(OSError, TimeoutError, ValueError):
            async with asyncio.timeout(_READ_TIMEOUT):
                line = await reader.readline()
            self.asked = self.asked or self._name.encode() in line
            writer.write(
                b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
            )
            await writer.drain()
        writer.close()


@asynccontextmanager
async def listening_for(endpoint_url: str) -> AsyncIterator[Listener]:
    """Listen on the address from which the kit reaches the endpoint.

    Raises:
        OSError: there is none, or no port is free.
    """
    parts = urlsplit(endpoint_url)
    port = parts.port or (443 if parts.scheme == "https" else 80)
    ours, theirs = await asyncio.to_thread(_addresses, parts.hostname or "", port)
    reach = not theirs.is_global or ours.is_global
    listener = Listener(str(ours), within_reach=reach)
    server = await asyncio.start_server(listener.handle, listener.host, 0)
    listener.port = server.sockets[0].getsockname()[1]
    try:
        yield listener
    finally:
        server.close()


_Address = ipaddress.IPv4Address | ipaddress.IPv6Address


def _addresses(host: str, port: int) -> tuple[_Address, _Address]:
    """Ours and theirs, as the routing table pairs them; nothing is sent."""
    family, kind, _, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_DGRAM)[0]
    with socket.socket(family, kind) as probe:
        probe.connect(address)
        ours, theirs = probe.getsockname()[0], probe.getpeername()[0]
    return ipaddress.ip_address(ours.split("%")[0]), ipaddress.ip_address(theirs.split("%")[0])
