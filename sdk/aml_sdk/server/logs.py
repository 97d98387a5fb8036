"""Logs as one JSON object a line, without payloads, ids or keys (clause K3, L3)."""

from __future__ import annotations

import json
import logging
import traceback
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TextIO

from pydantic import ValidationError

from aml_sdk._gen.models import Memory

logger = logging.getLogger("aml.server")

_OUTER, _INNER = 5, 3
"""Places told of an exception: those where it entered the system, and where it was raised."""
_SERVER = str(Path(__file__).parent)


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
    """The type of an exception, that of its cause, and its places, without its text.

    Places are those in the system, the innermost first: what shows a log may cut its lines. Of a
    :class:`Memory` that could not be made, the fields are named and what is wrong with them.
    """
    told: dict[str, Any] = {"error": type(error).__name__}
    if error.__cause__ is not None:
        told["cause"] = type(error.__cause__).__name__
    if isinstance(error, ValidationError) and (wrong := _wrong_fields(error)):
        told["memory"] = wrong
    told["at"] = _inside(error) or _inside(error.__cause__) or _places(error)
    return told


def _inside(error: BaseException | None) -> list[str]:
    """The places after the server called the system; none if the server itself failed."""
    places = _places(error)
    server = (n for n, place in enumerate(places) if place.startswith(_SERVER))
    return _shortened(places[: next(server, len(places))])


def _places(error: BaseException | None) -> list[str]:
    frames = reversed(traceback.extract_tb(error.__traceback__ if error else None))
    return [f"{frame.filename}:{frame.lineno} {frame.name}" for frame in frames]


def _shortened(places: list[str]) -> list[str]:
    if len(places) <= _INNER + _OUTER:
        return places
    return [*places[:_INNER], "…", *places[-_OUTER:]]


def _wrong_fields(error: ValidationError) -> list[str]:
    """As in ``id: missing``; the names are the model's own, so none is payload."""
    if error.title != Memory.__name__:
        return []
    details = error.errors(include_url=False, include_context=False, include_input=False)
    places = [(detail["loc"][0] if detail["loc"] else "", detail["type"]) for detail in details]
    wrong = (f"{name}: {kind}" for name, kind in places if name in Memory.model_fields)
    return list(dict.fromkeys(wrong))


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
