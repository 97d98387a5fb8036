"""An exchange as a ``curl`` command that can be pasted into a shell."""

from __future__ import annotations

import base64
import shlex
from pathlib import Path

from aml_contract.endpoint.auth import PLACEHOLDER
from aml_contract.exchange import Exchange

INLINE_LIMIT = 2_000
"""Bytes of a body that are written into the command; a larger one goes to a file."""


def curl(exchange: Exchange, body_file: Path | None = None) -> str:
    """The command that sends the request again.

    Args:
        exchange: what was sent; its key is already ``$AML_KEY``.
        body_file: a file that holds the body, used if it cannot be written inline.
    """
    words = ["curl", "-sS", "-i"]
    if exchange.method == "HEAD":
        words = ["curl", "-sS", "-I"]
    elif exchange.method != ("POST" if exchange.body or exchange.dropped else "GET"):
        words += ["-X", shlex.quote(exchange.method)]
    words.append(shlex.quote(exchange.url))
    for name, value in exchange.headers.items():
        words += ["-H", _header(name, value)]
    before = ""
    typed = any(name.lower() == "content-type" for name in exchange.headers)
    if (exchange.body or exchange.dropped) and not typed:
        words += ["-H", "content-type:"]  # curl would name a form
    if exchange.body:
        text = _inline(exchange.body)
        if body_file is not None and (text is None or len(exchange.body) > INLINE_LIMIT):
            words += ["--data-binary", shlex.quote(f"@{body_file}")]
        elif text is not None:
            words += ["--data-binary", shlex.quote(text)]
        else:
            before = f"echo {base64.b64encode(exchange.body).decode()} | base64 -d | "
            words += ["--data-binary", "@-"]
    elif exchange.dropped:
        words += ["--data-binary", f"@body.json  # {exchange.dropped:,} bytes, which were not kept"]
    return before + " ".join(words)


def inlined(body: bytes) -> bool:
    """Whether :func:`curl` can do without a file for this body."""
    return len(body) <= INLINE_LIMIT


def _header(name: str, value: str) -> str:
    if PLACEHOLDER not in value:
        return shlex.quote(f"{name}: {value}")
    quoted = value.replace("\\", "\\\\").replace('"', '\\"').replace("`", "\\`")
    return f'"{name}: {quoted}"'


def _inline(body: bytes) -> str | None:
    """The body as text for a shell word; ``None`` if bytes or a leading @ forbid it."""
    try:
        text = body.decode()
    except UnicodeDecodeError:
        return None
    return None if "\0" in text or text.startswith("@") else text
