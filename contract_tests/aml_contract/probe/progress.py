"""How far a probe is: a bar on a terminal, plain lines elsewhere."""

from __future__ import annotations

from types import TracebackType
from typing import Protocol

from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from aml_contract.report.bars import Bars

_LINES = 4
"""Lines that are printed of a whole course."""


class Observer(Protocol):
    """Told how far a probe is."""

    def started(self, rounds: int) -> None:
        """A course of so many rounds of sessions begins."""
        ...

    def done(self) -> None:
        """One more round was held."""
        ...

    def waiting(self, text: str) -> None:
        """A request will be sent again, or the server is waited for; says why."""
        ...


class TerminalProgress(Bars):
    """Draws a bar; waits are shown beside it."""

    def __init__(self, console: Console) -> None:
        super().__init__(
            Progress(
                TextColumn("Sessions"),
                BarColumn(),
                MofNCompleteColumn(),
                TimeElapsedColumn(),
                TextColumn("[yellow]{task.fields[waiting]}"),
                console=console,
            )
        )
        self._task = self._bars.add_task("", total=None, waiting="the controls first")

    def started(self, rounds: int) -> None:
        """Give the bar its length."""
        self._bars.update(self._task, total=rounds, waiting="")

    def done(self) -> None:
        """Move the bar on."""
        self._bars.update(self._task, advance=1, waiting="")

    def waiting(self, text: str) -> None:
        """Show why nothing moves."""
        self._bars.update(self._task, waiting=escape(text))


class PlainProgress:
    """Prints a line at each quarter, and one for each wait."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._total = 0
        self._held = 0

    def __enter__(self) -> PlainProgress:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Nothing to clear."""

    def started(self, rounds: int) -> None:
        """A course begins."""
        self._total = rounds

    def done(self) -> None:
        """Print at each quarter."""
        before, self._held = self._held, self._held + 1
        if _LINES * self._held // self._total > _LINES * before // self._total:
            self._say(f"Sessions: {self._held} of {self._total} of each user")

    def waiting(self, text: str) -> None:
        """Print why nothing moves."""
        self._say(text)

    def _say(self, text: str) -> None:
        self._console.print(text, markup=False, highlight=False, soft_wrap=True)


def progress(console: Console) -> TerminalProgress | PlainProgress:
    """A bar if somebody watches, else lines."""
    return TerminalProgress(console) if console.is_terminal else PlainProgress(console)
