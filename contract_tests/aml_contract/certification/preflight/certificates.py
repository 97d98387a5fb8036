"""Certificates: what is to be said of one that a server shows."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime

from aml_contract.certification.grounds import Ground, as_remark, remark, wrong
from aml_contract.certification.preflight.handshake import TLS, Certificate
from aml_contract.endpoint.tls import CA_FILE

FULL_RUN_DAYS = 10
"""How long a Full run may take (clause L1)."""
UP_DAYS = 30
"""How long the endpoint stays up (clause L1)."""

# Of OpenSSL's x509_vfy.h.
_EXPIRED = {9, 10}
_SELF_SIGNED = 18
_UNKNOWN_ROOT = 19
_NO_ISSUER = {2, 20, 21}
_OTHER_NAME = {62, 64}


def grounds(host: str, tls: TLS, at: datetime, *, allow_private: bool) -> Iterator[Ground]:
    """What is to be said of a server's certificate.

    Args:
        host: the server's name.
        tls: what it showed.
        at: when.
        allow_private: whether an authority of one's own will do.
    """
    certificate = tls.certificate
    if tls.trusted == "own":
        found = wrong(
            f"The certificate of {host} is trusted because of {CA_FILE} alone.",
            "get one from an authority that is trusted by default, as the platform needs it",
        )
        yield as_remark(found) if allow_private else found
    elif tls.trusted is None and (certificate is None or tls.code not in _EXPIRED):
        yield _untrusted(host, tls)
    if certificate is None:
        return
    yield from _lasting(host, certificate, at)
    if tls.code in _EXPIRED and certificate.begins <= at <= certificate.ends:
        yield wrong(
            f"A certificate that {host} sends beside its own has expired.",
            "send the chain that came with the certificate when it was last renewed",
        )


def _untrusted(host: str, tls: TLS) -> Ground:
    certificate = tls.certificate
    if certificate is None:
        return wrong(
            f"{host} agrees on no TLS connection: {tls.error}.",
            "see whether the port is the right one, and that TLS 1.2 or 1.3 is spoken there",
        )
    if tls.code in _OTHER_NAME:
        names = ", ".join(certificate.names) or certificate.subject
        return wrong(
            f"The certificate at {host} is for {names}, not for {host}.",
            "use the name that it is for, or get one for this name",
        )
    if tls.code == _SELF_SIGNED:
        return wrong(
            f"The certificate of {host} is signed by itself.",
            "get one from an authority that is trusted by default",
        )
    if tls.code in _NO_ISSUER and tls.sent == 1:
        return wrong(
            f"{host} sends its certificate without that of {certificate.issuer}, which signed it.",
            "send the whole chain, as in fullchain.pem; if that is an authority of your own, get "
            "a certificate from one that is trusted by default",
        )
    if tls.code in _NO_ISSUER or tls.code == _UNKNOWN_ROOT:
        return wrong(
            f"The certificate of {host} is signed by {tls.last_issuer}, which nobody trusts by "
            "default.",
            "get one from an authority that is trusted by default",
        )
    return wrong(
        f"The certificate of {host} is not trusted: {tls.error}.",
        f"look at what openssl s_client -servername {host} says of it",
    )


def _lasting(host: str, certificate: Certificate, at: datetime) -> Iterator[Ground]:
    """At most one ground, about when the certificate begins and ends."""
    left = (certificate.ends - at).total_seconds() / 86_400
    made_for = (certificate.ends - certificate.begins).total_seconds() / 86_400
    day = certificate.ends.date().isoformat()
    if left < 0:
        fix = "renew it, and see that the server has loaded the new one"
        yield wrong(f"The certificate of {host} expired on {day}.", fix)
        return
    if certificate.begins > at:
        begins = f"{certificate.begins:%Y-%m-%d %H:%M} UTC"
        fix = "wait until then, or set the clock of this machine if that is wrong"
        yield wrong(f"The certificate of {host} is not valid before {begins}.", fix)
        return
    soon = f"The certificate of {host} expires on {day}, in {left:.0f} days"
    if left < FULL_RUN_DAYS and made_for > UP_DAYS:
        yield wrong(f"{soon}; a Full run may take {FULL_RUN_DAYS}.", "renew it now", "L1")
    elif left < UP_DAYS:
        fix = "see that it renews itself, and that the server loads the new one without a restart"
        yield remark(f"{soon}; the endpoint stays up {UP_DAYS}.", fix, "L1")
