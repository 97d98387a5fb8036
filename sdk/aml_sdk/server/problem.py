"""Answers that are no success, in the platform's own shape (clause F4)."""

from __future__ import annotations

from collections.abc import Mapping

from pydantic_core import to_json
from starlette.responses import Response


class Problem(Exception):  # noqa: N818  it becomes an answer, not a crash
    """A request is answered with ``{"detail": {"reason": …}}``.

    The reason names fields and limits; it never holds values of the request, keys, or text
    of an exception that was not meant for the client.
    """

    def __init__(
        self, status: int, reason: str, *, headers: Mapping[str, str] | None = None
    ) -> None:
        super().__init__(reason)
        self.status = status
        self.reason = reason
        self.headers = dict(headers or {})

    def response(self) -> Response:
        """The answer."""
        return Response(
            to_json({"detail": {"reason": self.reason}}, inf_nan_mode="null"),
            status_code=self.status,
            headers=self.headers,
            media_type="application/json",
        )
