"""Whom the kit trusts over TLS: one answer for every kind of connection."""

from __future__ import annotations

import ssl
from functools import cache

import httpx


@cache
def tls_context() -> ssl.SSLContext:
    """The certificates that httpx ships, whatever the environment says.

    Made once: reading them takes 20 ms, which a health probe every 20 ms cannot afford.
    """
    return httpx.create_ssl_context(trust_env=False)
