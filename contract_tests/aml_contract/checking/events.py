"""Events: everything a run found out, one JSON object a line, on disk as it happens.

A run that is killed keeps its results: reports are made from the events, not from the
memory of the process that wrote them. A run that is resumed goes on in the same file.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TextIO

if sys.platform != "win32":
    import fcntl

Event = Mapping[str, Any]


class RunUnderWay(Exception):  # noqa: N818  a state of the world, told to the user
    """The events belong to a run that has not ended."""


class EventLog:
    """An append-only stream of events.

    A disk that is full or read-only costs the file, never the run: ``trouble`` then says
    so, and the events stay in memory.

    Args:
        path: the file; ``None`` keeps events in memory only.
        resumed: go on in a file that is there, after its last whole line.

    Raises:
        RunUnderWay: the file is being written by another process.
    """

    def __init__(self, path: Path | None = None, *, resumed: bool = False) -> None:
        self.path = path
        self.events: list[Event] = []
        self.trouble: str | None = None
        self._file: TextIO | None = None
        if path is not None:
            self._guard(lambda: self._open(path, resumed=resumed))

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

    def _open(self, path: Path, *, resumed: bool) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        file = path.open("a", encoding="utf-8")
        if not _locked(file):
            file.close()
            raise RunUnderWay(f"the run of {path} is still under way")
        if resumed:
            self.events, whole = _parsed(path.read_bytes())
            file.truncate(whole)
        self._file = file

    def _guard(self, act: Any) -> None:
        try:
            act()
        except OSError as error:
            self._file = None
            self.trouble = f"events are not kept on disk: {error}"


def read_events(path: Path) -> list[Event]:
    """The events of a file; a last line cut short by a kill is left out."""
    return _parsed(path.read_bytes())[0]


def _parsed(data: bytes) -> tuple[list[Event], int]:
    """The events of the whole lines, and how many bytes these are."""
    events: list[Event] = []
    whole = 0
    for line in data.splitlines(keepends=True):
        try:
            event = json.loads(line)
        except ValueError:
            break
        if not line.endswith(b"\n") or not isinstance(event, dict):
            break
        events.append(event)
        whole += len(line)
    return events, whole


def _locked(file: TextIO) -> bool:
    """Take the file for this process; the system gives it free when the process ends."""
    if sys.platform == "win32":
        return True
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:  # a file system without locks
        return True
    return True


def _write(file: TextIO, event: Event) -> None:
    file.write(json.dumps(event, ensure_ascii=True) + "\n")
    file.flush()
