"""Events: everything a run found out, one JSON object a line, on disk as it happens.

A run that is killed keeps its results: reports are made from the events, not from the
memory of the process that wrote them.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TextIO

Event = Mapping[str, Any]


class EventLog:
    """An append-only stream of events.

    A disk that is full or read-only costs the file, never the run: ``trouble`` then says
    so, and the events stay in memory.

    Args:
        path: the file; ``None`` keeps events in memory only.
    """

    def __init__(self, path: Path | None = None) -> None:
        self.path = path
        self.events: list[Event] = []
        self.trouble: str | None = None
        self._file: TextIO | None = None
        if path is not None:
            self._guard(lambda: self._open(path))

    def emit(self, kind: str, **fields: Any) -> None:
        """Append one event and hand it to the operating system at once."""
        event = {"event": kind, "at": datetime.now(UTC).isoformat(), **fields}
        self.events.append(event)
        if self._file is not None:
            file = self._file
            self._guard(lambda: _write(file, event))

    def close(self) -> None:
        """Close the file."""
        if self._file is not None:
            self._guard(self._file.close)
            self._file = None

    def _open(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self._file = path.open("a", encoding="utf-8")

    def _guard(self, act: Any) -> None:
        try:
            act()
        except OSError as error:
            self._file = None
            self.trouble = f"events are not kept on disk: {error}"


def read_events(path: Path) -> list[Event]:
    """The events of a file; a last line cut short by a kill is left out."""
    events = []
    for line in path.read_text(encoding="utf-8").splitlines():
        try:
            events.append(json.loads(line))
        except ValueError:
            break
    return events


def _write(file: TextIO, event: Event) -> None:
    file.write(json.dumps(event, ensure_ascii=True) + "\n")
    file.flush()
