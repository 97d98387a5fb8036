"""Where the passages are kept."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import urlsplit

from aml_sdk import Misconfigured


@dataclass(frozen=True, kw_only=True)
class RagSettings:
    """What an operator may set. Each field names its environment variable.

    Raises:
        Misconfigured: a URL that names no server.
    """

    chroma_url: str | None = None
    """``AML_CHROMA_URL``: a Chroma server; ``None`` keeps files in the data directory."""
    collection: str = "aml-rag"
    """``AML_CHROMA_COLLECTION``: 3 to 512 of ``a-z A-Z 0-9 . _ -``; made if need be."""

    @classmethod
    def from_environment(cls, environment: Mapping[str, str] | None = None) -> RagSettings:
        """What the variables say; an empty one counts as unset."""
        given = os.environ if environment is None else environment
        return cls(
            chroma_url=given.get("AML_CHROMA_URL", "").strip() or None,
            collection=given.get("AML_CHROMA_COLLECTION", "").strip() or cls.collection,
        )

    def __post_init__(self) -> None:
        if self.chroma_url is not None:
            _ = self.address

    @property
    def address(self) -> tuple[str, int, bool]:
        """Host, port and whether TLS is spoken, of :attr:`chroma_url`."""
        try:
            parts = urlsplit(self.chroma_url or "")
            port = parts.port
        except ValueError as error:
            raise Misconfigured(f"AML_CHROMA_URL: {error}") from error
        if parts.scheme not in {"http", "https"} or not parts.hostname or parts.path.strip("/"):
            raise Misconfigured(
                f"AML_CHROMA_URL must be http://HOST:PORT or https://…, and is {self.chroma_url!r}"
            )
        tls = parts.scheme == "https"
        return parts.hostname, port or (443 if tls else 8000), tls
