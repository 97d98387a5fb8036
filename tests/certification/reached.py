"""Endpoints for a preflight: a memory with knobs, and certificates of every kind."""

import asyncio
import json
from datetime import UTC, datetime, timedelta

import trustme
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    load_pem_private_key,
)

KEY = "k-canary-0451"


class Memory:
    """An application that answers as the contract says, but for what it is told.

    Args:
        key: the header that every request but health needs, and its value.
        answers: statuses by ``POST /add``, ``GET /health``; a text for a redirection.
        bodies: what is answered with 200, by path.
        cold: seconds that the first Search takes.
        headers: more headers of every answer.
        refuse: the status of a request whose key is not right.
    """

    def __init__(self, key=None, answers=(), bodies=(), cold=0.0, headers=(), refuse=401):
        self.key = key
        self.answers = dict(answers)
        self.bodies = dict(bodies)
        self.cold = cold
        self.headers = list(headers)
        self.refuse = refuse
        self.seen = []

    async def __call__(self, scope, receive, send):
        if scope["type"] != "http":
            return
        method, path = scope["method"], scope["path"]
        sent = b""
        while (message := await receive()).get("more_body"):
            sent += message["body"]
        sent += message.get("body", b"")
        self.seen.append((method, path))
        status, answer, more = self._answer(method, path, dict(scope["headers"]), sent)
        if (method, path) == ("POST", "/search") and self.cold:
            await asyncio.sleep(self.cold)
            self.cold = 0.0
        headers = [(b"content-type", b"application/json"), *more, *self.headers]
        await send({"type": "http.response.start", "status": status, "headers": headers})
        await send({"type": "http.response.body", "body": json.dumps(answer).encode()})

    def _answer(self, method, path, headers, sent):
        told = self.answers.get(f"{method} {path}", 200)
        if isinstance(told, str):
            return 308, {}, [(b"location", told.encode())]
        if isinstance(told, list):
            told = told.pop(0) if len(told) > 1 else told[0]
        name, value = self.key or ("x-none", None)
        if self.key and path != "/health" and headers.get(name.encode(), b"").decode() != value:
            return self.refuse, {"detail": {"reason": "key"}}, []
        if told != 200:
            return told, {"detail": {"reason": "told so"}}, []
        if path in self.bodies:
            return 200, self.bodies[path], []
        if method == "POST" and path.endswith("/add"):
            body = json.loads(sent)
            ids = {name: body[name] for name in ("request_id", "user_id", "session_id")}
            return 200, {"success": True, **ids}, []
        return 200, {"data": []}, []


class Authority:
    """An authority of one's own, whose certificate is in ``ca.pem``."""

    def __init__(self, directory):
        self.directory = directory
        self.root = trustme.CA()
        self.file = directory / "ca.pem"
        self.root.cert_pem.write_to_path(self.file)

    def options(self, *names, intermediate=False, whole=True, lasts=61, made_for=90):
        """Uvicorn's options for TLS.

        Args:
            names: what the certificate is for.
            intermediate: whether an authority between signs it.
            whole: whether that one's certificate is sent too.
            lasts: days until it ends.
            made_for: days from its beginning to its end.
        """
        end = datetime.now(UTC) + timedelta(days=lasts, hours=1)
        signer = self.root.create_child_ca() if intermediate else self.root
        made = signer.issue_cert(*names, not_before=end - timedelta(days=made_for), not_after=end)
        chain = made.cert_chain_pems if whole else made.cert_chain_pems[:1]
        return self.written([blob.bytes() for blob in chain], made.private_key_pem.bytes())

    def signed_by_itself(self, name):
        """Options with a certificate that no authority has signed."""
        key = ec.generate_private_key(ec.SECP256R1())
        return self.written([pem(signed(name, key, name, key))], private(key))

    def signed_by_one_that_expired(self, name):
        """Options with a good certificate, and an authority between that is good no more."""
        key, between = (ec.generate_private_key(ec.SECP256R1()) for _ in range(2))
        root = load_pem_private_key(self.root.private_key_pem.bytes(), None)
        issuer = x509.load_pem_x509_certificate(self.file.read_bytes()).subject
        middle = signed("Between", between, issuer, root, lasts=-3, authority=True)
        chain = [signed(name, key, "Between", between), middle]
        return self.written(list(map(pem, chain)), private(key))

    def written(self, chain, key):
        """Options that name files with these."""
        files = {
            "ssl_certfile": self.directory / "cert.pem",
            "ssl_keyfile": self.directory / "key.pem",
        }
        files["ssl_certfile"].write_bytes(b"".join(chain))
        files["ssl_keyfile"].write_bytes(key)
        return {option: str(file) for option, file in files.items()}


def signed(name, key, issuer, by, *, lasts=61, authority=False):
    """A certificate for ``name``, signed with the key ``by``."""
    begin = datetime.now(UTC) - timedelta(days=29)
    return (
        x509.CertificateBuilder()
        .subject_name(called(name))
        .issuer_name(issuer if isinstance(issuer, x509.Name) else called(issuer))
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(begin)
        .not_valid_after(datetime.now(UTC) + timedelta(days=lasts, hours=1))
        .add_extension(x509.BasicConstraints(ca=authority, path_length=None), critical=True)
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(name)]), critical=False)
        .sign(by, hashes.SHA256())
    )


def called(name):
    return x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, name)])


def pem(certificate):
    return certificate.public_bytes(Encoding.PEM)


def private(key):
    return key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
