"""What a builder writes: one class with ``add`` and ``search``.

The SDK's server does everything else that the contract demands.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Awaitable, Sequence
from typing import ClassVar

from aml_sdk._gen.models import AddRequest, Memory, SearchRequest
from aml_sdk.errors import Unsupported


class MemorySystem(ABC):
    """A memory of conversations, kept apart by ``user_id``.

    Methods may be ``async def`` or blocking ``def``. The constructor and ``async`` methods
    run in the thread of the event loop; blocking methods run in a pool of worker threads,
    several at once, so guard shared state. Requests arrive validated (clauses A1-A10,
    S1-S4), blank turns already removed.

    A constructor that takes ``data_dir`` is given the directory of ``aml serve --data``
    as a :class:`pathlib.Path`; nothing else is given, so other parameters need defaults.
    """

    images: ClassVar[bool] = False
    """Whether image parts are understood; if not, the server refuses them (clause M2)."""

    @abstractmethod
    def add(self, request: AddRequest) -> Awaitable[None] | None:
        """Store every message of the request.

        Return only when each is durable and findable (clause A12). The same request may
        come again after a crash (clause R1): derive the ids of what is stored from
        ``(user_id, request_id, position)`` and upsert, or implement :meth:`discard`.

        Raises:
            Unavailable: temporary trouble; the client is told to try again (503).
            Refused: this request can never succeed (422).
        """

    @abstractmethod
    def search(self, request: SearchRequest) -> Sequence[Memory] | Awaitable[Sequence[Memory]]:
        """The memories of ``request.user_id`` that answer the query, best first.

        At most ``request.top_k`` of them; nothing found is an empty list (clause S11).
        ``request.options`` may steer the ranking and never comes back (clause S2).

        Raises:
            Unavailable: the store cannot answer now; never return an empty list instead.
        """

    def health(self) -> bool | Awaitable[bool]:
        """Whether the system can serve; cheap, called on each GET of the health URL."""
        return True

    def discard(self, user_id: str, request_id: str) -> Awaitable[None] | None:
        """Remove whatever an unfinished Add of this request left behind.

        Called for every pending request at start-up, after a failed ``add`` and before a
        redelivery. The default does nothing: right for systems that upsert.
        """
        return None

    def forget(self, user_id: str) -> Awaitable[None] | None:
        """Remove everything about a user, derived data included (clause L3).

        Raises:
            Unsupported: the system cannot, which is the default.
        """
        raise Unsupported(f"{type(self).__name__} does not implement forget")

    def close(self) -> Awaitable[None] | None:
        """Release files and connections; called once, after the last request."""
        return None
