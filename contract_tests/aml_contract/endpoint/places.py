"""Connections: one for each place from which requests are sent."""

from __future__ import annotations

import httpx

from aml_contract.endpoint.tls import tls_context

PLACE = "place"
"""The extension of a request that names the place it is sent from."""


def connections(*, keep: int) -> httpx.AsyncHTTPTransport:
    """A pool without a bound, since places bound what is in flight.

    Args:
        keep: idle connections that stay open.
    """
    limits = httpx.Limits(max_connections=None, max_keepalive_connections=keep)
    return httpx.AsyncHTTPTransport(verify=tls_context(), trust_env=False, limits=limits)


class PlacesTransport(httpx.AsyncBaseTransport):
    """Sends each request over the connection of its place.

    A pool shared by all looks at every idle connection, and asks the operating system about
    it, twice a request: a quarter of the kit's time where sixteen requests are in flight.
    """

    def __init__(self) -> None:
        self._of: dict[str | None, httpx.AsyncHTTPTransport] = {}

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Send it; what has no place of its own shares one pool."""
        place = request.extensions.get(PLACE)
        if place not in self._of:
            self._of[place] = connections(keep=1)
        return await self._of[place].handle_async_request(request)

    async def aclose(self) -> None:
        """Close every connection."""
        for each in self._of.values():
            await each.aclose()
