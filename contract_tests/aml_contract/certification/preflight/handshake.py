"""The handshake: what a server shows over TLS, and who trusts it."""

from __future__ import annotations

import asyncio
import contextlib
import os
import ssl
import sys
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

import httpx
from cryptography import x509
from cryptography.hazmat.primitives import hashes

from aml_contract.documented import Documented
from aml_contract.endpoint.tls import CA_FILE, tls_context
from aml_contract.endpoint.trouble import in_words

Trust = Literal["public", "own"]


class Certificate(Documented):
    """A server's own certificate."""

    subject: str
    issuer: str
    names: list[str]
    """Host names and addresses that it is for."""
    begins: datetime
    ends: datetime
    sha256: str
    """Its fingerprint in hexadecimal."""


class TLS(Documented):
    """What came of one handshake."""

    trusted: Trust | None = None
    """Whether the authorities that everybody trusts vouch for it, or those of
    `SSL_CERT_FILE` alone."""
    code: int | None = None
    """OpenSSL's number of why it is not trusted."""
    error: str | None = None
    """Why there is no connection, in words."""
    protocol: str | None = None
    """`TLSv1.3`."""
    certificate: Certificate | None = None
    sent: int = 0
    """Certificates that the server sent, its own among them."""
    last_issuer: str = ""
    """Who signed the last of them."""


@dataclass(frozen=True)
class Peer:
    """Whom to shake hands with."""

    address: str
    port: int
    host: str
    """The name that the certificate must be for."""
    wait: float
    """Seconds that each handshake may take."""


async def shake_hands(peer: Peer) -> TLS:
    """Connect over TLS, and read what the server shows although it may not be trusted."""
    seen = TLS()
    contexts: dict[Trust, ssl.SSLContext] = {"public": httpx.create_ssl_context(trust_env=False)}
    if os.environ.get(CA_FILE):
        contexts["own"] = tls_context()
    for trusted, context in contexts.items():
        try:
            return await _shown(peer, context, trusted)
        except ssl.SSLCertVerificationError as error:
            seen.code, seen.error = error.verify_code, error.verify_message
        except (OSError, TimeoutError) as error:
            return TLS(error=_words(error, peer))
    with contextlib.suppress(OSError, TimeoutError):
        trusting_anyone = httpx.create_ssl_context(verify=False)  # to read it: nothing is sent
        shown = await _shown(peer, trusting_anyone)
        return shown.model_copy(update={"code": seen.code, "error": seen.error})
    return seen


async def _shown(peer: Peer, context: ssl.SSLContext, trusted: Trust | None = None) -> TLS:
    async with asyncio.timeout(peer.wait):
        _, writer = await asyncio.open_connection(
            peer.address, peer.port, ssl=context, server_hostname=peer.host
        )
    try:
        connection = writer.get_extra_info("ssl_object")
        shown = TLS(trusted=trusted, protocol=connection.version())
        with contextlib.suppress(ValueError):  # what OpenSSL reads and cryptography does not
            chain = [x509.load_der_x509_certificate(each) for each in _sent(connection)]
            shown.certificate = _certificate(chain[0])
            shown.sent, shown.last_issuer = len(chain), _name(chain[-1].issuer)
        return shown
    finally:
        writer.transport.abort()


def _sent(connection: Any) -> list[bytes]:
    """The certificates as the server sent them, its own first."""
    if sys.version_info >= (3, 13):
        return list(connection.get_unverified_chain())
    der = 2  # _ssl.ENCODING_DER; before 3.13 there is no public way to the whole chain
    return [each.public_bytes(der) for each in connection._sslobj.get_unverified_chain()]  # noqa: SLF001


def _certificate(found: x509.Certificate) -> Certificate:
    try:
        names = found.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    except x509.ExtensionNotFound:
        listed = []
    else:
        listed = [str(each.value) for each in names]
    return Certificate(
        subject=_name(found.subject),
        issuer=_name(found.issuer),
        names=listed,
        begins=found.not_valid_before_utc,
        ends=found.not_valid_after_utc,
        sha256=found.fingerprint(hashes.SHA256()).hex(),
    )


def _name(name: x509.Name) -> str:
    """A name as people say it: its common name, or else all of it."""
    common = name.get_attributes_for_oid(x509.NameOID.COMMON_NAME)
    return str(common[0].value) if common else name.rfc4514_string()


def _words(error: BaseException, peer: Peer) -> str:
    if isinstance(error, TimeoutError):
        return f"no handshake within {peer.wait:g} s"
    return in_words(error).removeprefix("TLS error: ")
