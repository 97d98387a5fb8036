"""Logs as one JSON object a line, without payloads, ids or keys (clause K3, L3)."""

from __future__ import annotations

import json
import logging
import traceback
from datetime import UTC, datetime
from typing import Any, TextIO

logger = logging.getLogger("aml.server")


class JSONFormatter(logging.Formatter):
    """A record as JSON: time, level, event, and the fields given as ``extra={"fields": …}``."""

    def format(self, record: logging.LogRecord) -> str:
        """One line; an exception is told by its type and place, its text may hold payload."""
        line: dict[str, Any] = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "event": record.getMessage(),
        }
        line.update(getattr(record, "fields", {}))
        if record.exc_info and record.exc_info[1] is not None:
            line.update(describe(record.exc_info[1]))
        return json.dumps(line, ensure_ascii=False, default=str)


def describe(error: BaseException) -> dict[str, Any]:
    """The type of an exception and the places it came through, without its text."""
    frames = traceback.extract_tb(error.__traceback__)
    return {
        "error": type(error).__name__,
        "at": [f"{frame.filename}:{frame.lineno} {frame.name}" for frame in frames],
    }


def log(level: int, event: str, **fields: Any) -> None:
    """Write one line, if anyone listens."""
    if logger.isEnabledFor(level):
        logger.log(level, event, extra={"fields": fields})


def configure(stream: TextIO, level: int = logging.INFO) -> None:
    """Send the server's and uvicorn's logs to ``stream`` as JSON lines."""
    handler = logging.StreamHandler(stream)
    handler.setFormatter(JSONFormatter())
    for name, lowest in (("aml", level), ("uvicorn", logging.WARNING)):
        named = logging.getLogger(name)
        named.handlers = [handler]
        named.setLevel(max(level, lowest))
        named.propagate = False
