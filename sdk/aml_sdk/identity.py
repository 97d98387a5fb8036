"""Names derived from ids, such that two ids never share a name.

Ids are opaque strings of any length (clauses A1, A2). A backend that treats strings
exactly is given them as they are; any other is given a name made here. Each function
hashes the exact code points with SHA-256, so nothing is folded, trimmed or cut.
"""

from __future__ import annotations

import base64
import hashlib

_SLUG_LENGTH = 10


def backend_key(identifier: str) -> str:
    """A name for the id that any backend takes: file, collection, table or URL segment.

    At most 63 characters of ``a-z 0-9 -``, beginning and ending with a letter or digit;
    a readable beginning, then the whole digest, which alone tells two ids apart.
    """
    letters = (c for c in identifier.lower() if c.isascii() and c.isalnum())
    slug = "".join(letters)[:_SLUG_LENGTH] or "id"
    return f"{slug}-{_base32(_digest(identifier))}"


def memory_id(user_id: str, request_id: str, position: int) -> str:
    """The id of what the message at ``position`` of an Add became (clause S6).

    The same for each redelivery, so that storing under it again changes nothing
    (clause R1). ``position`` counts the messages that the system was given, from 0.
    """
    return "m-" + _base32(_digest(user_id, request_id, str(position))[:20])


def short_digest(identifier: str) -> str:
    """Twelve hexadecimal digits that stand for an id in a log, where the id must not be."""
    return _digest(identifier).hex()[:12]


def _digest(*parts: str) -> bytes:
    """SHA-256 of the parts, each preceded by its length: ``("a", "bc")`` is not ``("ab", "c")``."""
    digest = hashlib.sha256()
    for part in parts:
        encoded = part.encode("utf-8", "surrogatepass")
        digest.update(b"%d:" % len(encoded))
        digest.update(encoded)
    return digest.digest()


def _base32(value: bytes) -> str:
    return base64.b32encode(value).decode("ascii").rstrip("=").lower()
