"""How far a smoke run is: bars on a terminal, plain lines elsewhere."""

from __future__ import annotations

from types import TracebackType

from rich.console import Console
from rich.markup import escape
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TaskID,
    TextColumn,
    TimeElapsedColumn,
)

from aml_contract.report.bars import Bars
from aml_contract.smoke.run import Stage

_NAMES: dict[Stage, str] = {"add": "Adds", "search": "Searches", "answer": "Answers"}


class TerminalProgress(Bars):
    """Draws a bar for the Adds and one for the Searches; waits are shown beside them."""

    def __init__(self, console: Console) -> None:
        super().__init__(
            Progress(
                TextColumn("{task.description:>8}"),
                BarColumn(),
                MofNCompleteColumn(),
                TimeElapsedColumn(),
                TextColumn("[yellow]{task.fields[waiting]}"),
                console=console,
            )
        )
        self._tasks: dict[Stage, TaskID] = {}
        self._now: TaskID | None = None

    def started(self, stage: Stage, total: int) -> None:
        """Draw the bar of a stage."""
        self._now = self._bars.add_task(_NAMES[stage], total=total, waiting="")
        self._tasks[stage] = self._now

    def done(self, stage: Stage) -> None:
        """Move the bar on."""
        self._bars.update(self._tasks[stage], advance=1, waiting="")

    def waiting(self, text: str) -> None:
        """Show why nothing moves; before the first stage, as a line."""
        if self._now is None:
            self._bars.console.print(text, markup=False, highlight=False, soft_wrap=True)
        else:
            self._bars.update(self._now, waiting=escape(text))


class PlainProgress:
    """Prints a line at each quarter of a stage, and one for each wait."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._total = 0
        self._done = 0

    def __enter__(self) -> PlainProgress:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Nothing to clear."""

    def started(self, stage: Stage, total: int) -> None:
        """A stage begins."""
        self._total, self._done = total, 0

    def done(self, stage: Stage) -> None:
        """Print at each quarter."""
        before, self._done = self._done, self._done + 1
        if 4 * self._done // self._total > 4 * before // self._total:
            self._say(f"{_NAMES[stage]}: {self._done} of {self._total}")

    def waiting(self, text: str) -> None:
        """Print why nothing moves."""
        self._say(text)

    def _say(self, text: str) -> None:
        self._console.print(text, markup=False, highlight=False, soft_wrap=True)


def progress(console: Console) -> TerminalProgress | PlainProgress:
    """Bars if somebody watches, else lines."""
    return TerminalProgress(console) if console.is_terminal else PlainProgress(console)
