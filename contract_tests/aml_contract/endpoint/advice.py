"""Advice where nothing answers: why that probably is, and what to do about it.

The words of :mod:`aml_contract.endpoint.trouble` and of a server's log are looked at; where
they say nothing known, nothing is guessed.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit


@dataclass(frozen=True)
class Advice:
    """``why`` it probably is so, and what to ``do``."""

    why: str
    do: str

    def __str__(self) -> str:
        """Two lines to stand under a message."""
        return f"\n  why  {self.why}\n  do   {self.do}"


def in_short(urls: Sequence[str]) -> str:
    """Several URLs as people say them: where they share an origin, that and their paths."""
    parts = [urlsplit(url) for url in urls]
    origins = {f"{one.scheme}://{one.netloc}" for one in parts}
    if len(origins) > 1:
        return f"{', '.join(urls[:-1])} or {urls[-1]}"
    paths = [one.path + (f"?{one.query}" if one.query else "") for one in parts]
    return f"{origins.pop()} ({', '.join(paths)})"


def unreachable(words: str, url: str, proxies: tuple[str, ...] = ()) -> Advice:
    """Why nothing answers at ``url``.

    Args:
        words: what happened on the wire.
        url: that of the health check.
        proxies: the variables that name proxies, which the kit passes by.
    """
    parts = urlsplit(url)
    host = parts.hostname or ""
    port = parts.port or (443 if parts.scheme == "https" else 80)
    found = _by_words(words, parts.scheme, host, port)
    if proxies and not _is_local(host):
        passed_by = f"; the kit passes by proxies (set here: {', '.join(proxies)})"
        elsewhere = "if it is reached through a proxy alone, check it from where none is needed"
        return Advice(found.why + passed_by, f"{found.do}; {elsewhere}")
    return found


def not_started(words: str, command: str, port: int) -> Advice | None:
    """Why a server that the kit starts did not come up; ``None`` if its log must tell.

    Args:
        words: what happened, with the end of the server's log.
        command: the command as the shell ran it.
        port: the one that the kit had chosen.
    """
    here = Path.cwd()
    known = {
        "did not answer within": Advice(
            f"it runs, but nothing answers on port {port} of 127.0.0.1",
            "have it listen on the port that {port} stands for, on 127.0.0.1 or 0.0.0.0, in the "
            "foreground; if it only starts slowly, start it yourself and check it with --url",
        ),
        "address already in use|errno 98|eaddrinuse": Advice(
            f"it wants a port that another program has; the kit's own choice, {port}, was free",
            "see that it takes its port from {port} alone, not from a setting of its own",
        ),
        r"exited with 127\b": Advice(
            f"the shell does not know the program; it looked in PATH, and from {here}",
            f"install it into this environment, or give its whole path; try: {_first(command)}",
        ),
        r"exited with 126\b": Advice("the shell may not run that file", "try: chmod +x FILE"),
        "no module named|could not import module|there is no module": Advice(
            f"Python finds no such module from {here}",
            "run aml where the module lies, or install it; names are written pkg.mod:name",
        ),
        r"attribute \S+ not found in module": Advice(
            "the module is there, but nothing in it has that name",
            "write the name of the application after the colon: pkg.mod:app",
        ),
        r"exited with 0\b": Advice(
            "it ended by itself: perhaps it went into the background",
            "have it run in the foreground, as the kit must be able to end it",
        ),
        r"\A[^\n]*\Z": Advice(
            "it said nothing before it ended", "run it by itself to see what it needs"
        ),
    }
    return next((it for part, it in known.items() if re.search(part, words, re.IGNORECASE)), None)


def _by_words(words: str, scheme: str, host: str, port: int) -> Advice:
    known = {
        "refused": Advice(
            f"no server listens on port {port} of {host}",
            "start yours, or correct the port; inside a container it must listen on 0.0.0.0, and "
            "the port must be published",
        ),
        "name not found": Advice(
            f"{host} is no name that this machine can resolve",
            "look for a slip in the name; names of compose services hold only inside containers",
        ),
        "wrong_version_number": Advice(
            f"what listens on port {port} speaks no TLS", f"try http://{host}:{port}"
        ),
        "self-signed": _untrusted(host),
        "self signed": _untrusted(host),
        "unable to get local issuer": _untrusted(host),
        "hostname mismatch": _other_name(host),
        "not valid for": _other_name(host),
        "certificate has expired": Advice(
            "the certificate has expired", "renew it: the platform would refuse it too"
        ),
        "tls error": Advice(
            "the two sides agree on no TLS connection",
            f"look at: openssl s_client -connect {host}:{port} -servername {host}",
        ),
        "no connection in time": Advice(
            f"packets to port {port} of {host} get no answer, as behind a firewall",
            "check address and port, security groups, and whether a VPN is up",
        ),
        "no answer within": Advice(
            "the connection is taken but nothing is sent, as where one worker is busy or stuck",
            "look at your server's log; restart it if an earlier request holds it up",
        ),
        "closed without an answer": _hung_up(scheme, host, port),
        "connection reset": _hung_up(scheme, host, port),
        "broken http answer": Advice(
            f"what listens on port {port} speaks no HTTP/1.1",
            "check the port: a database or gRPC may be there",
        ),
    }
    for part, advice in known.items():
        if part in words.lower():
            return advice
    return Advice("nothing that is known fits", "see what curl says")


def _untrusted(host: str) -> Advice:
    return Advice(
        f"the certificate of {host} is signed by nobody that is trusted by default",
        "the platform needs one that is; for a CA of your own: export SSL_CERT_FILE=ca.pem",
    )


def _other_name(host: str) -> Advice:
    return Advice(
        f"the certificate there is for another name than {host}",
        "use the name that the certificate is for, or get one for this name",
    )


def _hung_up(scheme: str, host: str, port: int) -> Advice:
    why = "the server, or a proxy before it, hangs up on every request"
    do = "look at its log, and at the log of a proxy before it"
    if scheme == "http":
        return Advice(
            f"{why}; one that wants TLS does so too", f"{do}; or try https://{host}:{port}"
        )
    return Advice(why, do)


def _is_local(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _first(command: str) -> str:
    """The program of a command, as a question to the shell."""
    word = next((word for word in command.split() if "=" not in word and word != "exec"), command)
    return f"command -v {word}"
