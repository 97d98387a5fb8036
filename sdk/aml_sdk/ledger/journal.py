"""The journal of what was forgotten: that it was, never what it was."""

from __future__ import annotations

import json
import os
from datetime import UTC, datetime
from pathlib import Path

from aml_sdk.identity import short_digest


class Journal:
    """One JSON object a line: ``at`` (UTC), ``user``, ``why``, ``adds``.

    ``user`` is the digest that stands for the user in the logs, too: whoever knows the id can
    tell that it was forgotten, and nobody learns an id. ``adds`` is how many Adds were known.
    """

    def __init__(self, path: Path) -> None:
        self._path = path

    def write(self, user_id: str, why: str, adds: int) -> None:
        """Append a line; on disk on return.

        Raises:
            OSError: it cannot be written.
        """
        line = json.dumps(
            {
                "at": datetime.now(UTC).isoformat(timespec="seconds"),
                "user": short_digest(user_id),
                "why": why,
                "adds": adds,
            }
        )
        with self._path.open("a", encoding="utf-8") as file:
            file.write(line + "\n")
            file.flush()
            os.fsync(file.fileno())
