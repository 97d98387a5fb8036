"""One small, correct, durable server, made to be varied.

Every promise of the wire contract that needs no media is kept here in a method of its
own, so that a variation is a subclass that overrides one of them::

    class FoldsUserIds(Correct):
        kills = {"isolation/case-twins": "sees a memory of"}

        def user_key(self, user_id):
            return user_id.casefold()

``kills`` names the rules that must fail the variation and words that their message must
hold. What it does lies in ``parts``, one concern in each. While a file ``fault`` lies in
the data directory, the store fails.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import ClassVar

from tests.broken.parts.searching import Searching
from tests.broken.parts.values import Add, Memory, Message, RefusedError, Reply
from tests.broken.parts.wire import Wire

__all__ = ["Add", "Correct", "Memory", "Message", "RefusedError", "Reply", "variations"]

variations: dict[str, type[Correct]] = {}


class Correct(Searching, Wire):
    """The server as an ASGI application; without ``data`` it keeps all in memory."""

    kills: ClassVar[Mapping[str, str]] = {}
    risks: ClassVar[frozenset[str]] = frozenset()
    """Those of its rules that only warn: readers disagree, or a refusal is a risk."""
    thresholds: ClassVar[Mapping[str, float]] = {}
    """Settings of the run that a killer needs, in seconds."""
    track: ClassVar[str] = "textual"
    """What the run is told that the server is entered for."""

    def __init_subclass__(cls) -> None:
        if cls.__name__ in variations or "kills" not in vars(cls):
            raise TypeError(f"{cls.__name__}: a variation has its own name and its own kills")
        variations[cls.__name__] = cls

    def __init__(self, data: Path | None = None, *, scheme: str = "none", key: str = "") -> None:
        self.scheme = scheme
        self.key = key
        self.memories = {}
        self.done = {}
        self.pending = {}
        self.journal = None
        self.data = data
        if data is not None:
            self.open_journal(data)
