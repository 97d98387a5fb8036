"""How many requests the server takes in at once."""

from __future__ import annotations

from types import TracebackType

from aml_sdk.server.problem import Problem


class Gate:
    """Counts requests inside and turns more than ``limit`` away (clause F1)."""

    def __init__(self, what: str, limit: int, retry_after: int) -> None:
        self._what = what
        self._limit = limit
        self._retry_after = retry_after
        self._inside = 0

    def __enter__(self) -> None:
        """Go in.

        Raises:
            Problem: 429 with ``Retry-After``, the server is full.
        """
        if self._inside >= self._limit:
            raise Problem(
                429,
                f"{self._limit} {self._what} are in the server already",
                headers={"Retry-After": str(self._retry_after)},
            )
        self._inside += 1

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._inside -= 1
