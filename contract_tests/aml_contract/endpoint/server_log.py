"""What a server that the kit started has written: its last words, and its complaints."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

_TAIL = 20
_COMPLAINT = re.compile("error|exception|panic", re.IGNORECASE)
_COMPLAINTS = 3
_COMPLAINT_LENGTH = 600
_BYTES = 16_384
_BYTES_SEARCHED = 2**20
"""Of the end of a log: it may be huge."""


class ServerLog:
    """The file that a server's output goes to."""

    def __init__(self, path: Path) -> None:
        self.path = path

    @property
    def tail(self) -> str:
        """The last lines, indented, or an empty string."""
        return _indented(self._lines(_BYTES)[-_TAIL:])

    @property
    def complaints(self) -> str:
        """The last lines that tell of an error, indented, or an empty string."""
        found = [line for line in self._lines(_BYTES_SEARCHED) if _COMPLAINT.search(line)]
        return _indented(line[:_COMPLAINT_LENGTH] for line in found[-_COMPLAINTS:])

    def _lines(self, most: int) -> list[str]:
        """Lines of the last ``most`` bytes."""
        try:
            with self.path.open("rb") as log:
                log.seek(max(0, self.path.stat().st_size - most))
                return log.read().decode(errors="replace").splitlines()
        except OSError:
            return []


def _indented(lines: Iterable[str]) -> str:
    return "".join(f"\n    | {line}" for line in lines)
