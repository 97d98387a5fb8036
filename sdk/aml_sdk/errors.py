"""Everything the SDK raises on purpose.

AMLError
├── SystemFailure   raised by a MemorySystem
│   ├── Unavailable     temporary trouble: 503, tried again (clause F3)
│   ├── Refused         this request can never succeed: 422 (clause F3)
│   └── Unsupported     the system does not offer the operation
├── DataDirectoryBusy   another process owns the data directory
└── Misconfigured       the server cannot start as it was asked to
"""

from __future__ import annotations


class AMLError(Exception):
    """Base of the SDK's own exceptions."""


class SystemFailure(AMLError):  # noqa: N818  named for what a builder says
    """A memory system says that it could not do what was asked."""


class Unavailable(SystemFailure):
    """Temporary trouble; the server answers 503 and the client tries again."""


class Refused(SystemFailure):
    """The request can never succeed; the server answers 422 with the message."""


class Unsupported(SystemFailure):
    """The system does not offer this operation."""


class DataDirectoryBusy(AMLError):  # noqa: N818  a state, and what an operator calls it
    """Another process owns the data directory."""


class Misconfigured(AMLError):  # noqa: N818  likewise
    """The server cannot start as it was asked to; the message says what to change."""
