"""What an operator may set about the server; the defaults keep the contract."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, get_args

from aml_sdk.errors import Misconfigured

AuthScheme = Literal["bearer", "token", "x-api-key", "none"]
"""How the key is carried (clause K1)."""

_MIB = 1024 * 1024


@dataclass(frozen=True, kw_only=True)
class Settings:
    """Limits, times in seconds and sizes in bytes.

    Raises:
        Misconfigured: values that contradict each other, such as a scheme without a key.
    """

    auth: AuthScheme = "none"
    key: str | None = field(default=None, repr=False)

    max_body: int = 48 * _MIB
    """Larger bodies are 413; a legal Add reaches about 41 MiB (clause M1)."""
    body_timeout: float = 300
    """A body that has not arrived by then is 408."""
    max_image: int = 10 * _MIB
    """Decoded size of one image (clause M1)."""
    max_images: int = 30 * _MIB
    """Decoded size of all images of one Add, of one query, or of one answer (clause M1)."""

    add_workers: int = 64
    """Adds that the system works on at once; others wait."""
    search_workers: int = 64
    """Searches that the system works on at once; others wait."""
    max_adds: int = 256
    """Adds in the server, waiting ones included; more are 429."""
    max_searches: int = 1024
    """Searches in the server, waiting ones included; more are 429."""
    retry_after: int = 5
    """What 429 and 503 tell the client to wait: 1 to 60 (clause F1)."""

    duplicate_wait: float = 30
    """How long a repeat waits for the Add that is under way before its 409 (clause R5)."""
    add_deadline: float = 1740
    """Then an Add is 503 and goes on: a little less than the platform waits (clause F2)."""
    search_deadline: float = 90
    """Then a Search is 503: less than proxies wait, whose 524 is not tried again (clause F)."""
    health_timeout: float = 5
    """A health check that has not returned by then is 503."""

    forget_after: float | None = None
    """Forget a user this long after their last Add; ``None`` never does. The contract allows
    30 days (clause L3)."""

    def __post_init__(self) -> None:
        if self.auth not in get_args(AuthScheme):
            schemes = ", ".join(get_args(AuthScheme))
            raise Misconfigured(f"auth is {self.auth!r}; it is one of {schemes}")
        if self.auth != "none" and not (self.key and self.key.strip()):
            raise Misconfigured(f"auth {self.auth} needs a key, and the key is empty")
        if not 1 <= self.retry_after <= 60:
            raise Misconfigured(f"retry_after is {self.retry_after}; it is 1 to 60 seconds")
        if self.forget_after is not None and not self.forget_after > 0:
            raise Misconfigured(f"forget_after is {self.forget_after}; it is more than 0 seconds")
        for name in ("add_workers", "search_workers", "max_adds", "max_searches"):
            if getattr(self, name) < 1:
                raise Misconfigured(f"{name} is {getattr(self, name)}; it is at least 1")
