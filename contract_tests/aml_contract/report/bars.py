"""Bars on the terminal, drawn as long as a block runs."""

from __future__ import annotations

from types import TracebackType
from typing import Self

from rich.progress import Progress


class Bars:
    """What shows how far something is; it begins and ends with the block."""

    def __init__(self, bars: Progress) -> None:
        self._bars = bars

    def __enter__(self) -> Self:
        self._bars.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._bars.stop()
