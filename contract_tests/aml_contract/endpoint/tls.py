"""Whom the kit trusts over TLS: one answer for every kind of connection."""

from __future__ import annotations

import os
import ssl
from functools import cache

import httpx

CA_FILE = "SSL_CERT_FILE"
"""The variable that names further certificates to trust, as for curl and openssl."""


class TrustError(ValueError):
    """The file of certificates cannot be used; the message says why."""


@cache
def tls_context() -> ssl.SSLContext:
    """The certificates that httpx ships, and those of ``SSL_CERT_FILE`` besides.

    Made once: reading them takes 20 ms, which a health probe every 20 ms cannot afford.

    Raises:
        TrustError: that file cannot be read, or holds no certificate.
    """
    context = httpx.create_ssl_context(trust_env=False)
    if path := os.environ.get(CA_FILE):
        try:
            context.load_verify_locations(path)
        except OSError as error:  # ssl.SSLError too, where it holds no certificate
            raise TrustError(f"{CA_FILE}={path} is no file of certificates: {error}") from error
    return context
