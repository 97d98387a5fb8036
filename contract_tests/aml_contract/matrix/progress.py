"""The progress of a matrix: a line for each finished check, and roughly how long it takes yet."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from rich.console import Console
from rich.markup import escape

from aml_contract.matrix.cells import Cell, Key
from aml_contract.matrix.crew import Watch
from aml_contract.matrix.judgement import judge
from aml_contract.matrix.plan import Job


class ProgressLines(Watch):
    """Prints a line for each job.

    Args:
        console: where to.
        jobs: those that are to be done.
        cells: all cells, filled while they are made.
        workers: how many jobs go side by side.
    """

    def __init__(
        self, console: Console, jobs: Sequence[Job], cells: Mapping[Key, Cell], *, workers: int
    ) -> None:
        self._console = console
        self._cells = cells
        self._workers = workers
        self._total = len(jobs)
        self._open = Counter(job.entry.healthy for job in jobs)
        self._done: Counter[bool] = Counter()
        self._seconds: Counter[bool] = Counter()

    def job_finished(self, job: Job, seconds: float, trouble: str | None) -> None:
        """Print what came of it."""
        kind = job.entry.healthy
        self._open[kind] -= 1
        self._done[kind] += 1
        self._seconds[kind] += round(seconds)
        words = f"[red]not tried: {escape(trouble.splitlines()[0])}[/]" if trouble else ""
        number = f"{self._done.total()}/{self._total}"
        seed = f", seed {job.seed}" if kind else ""
        self._console.print(
            f"{number:>9}  {job.entry.name}{seed}: {words or self._verdict(job)}; "
            f"{seconds:.0f} s{self._left()}",
            highlight=False,
            soft_wrap=True,
        )

    def _verdict(self, job: Job) -> str:
        made = judge([job], self._cells)
        if made.kit_errors:
            return f"[magenta]the kit broke in {_names(made.kit_errors)}[/]"
        if job.entry.healthy:
            if made.beyond:
                return f"[red]{_names(made.beyond)}[/]"
            known = len(made.expected)
            return f"[green]nothing but {known} that are true[/]" if known else "[green]nothing[/]"
        if made.survivors:
            return f"[red]survived {', '.join(kill.rule for kill in made.survivors)}[/]"
        if not made.kills:
            return f"{sum(cell.found for cell in made.cells)} findings"
        others = len(made.collateral.get(job.entry.name, ()))
        beside = f", beside {others} other finding{'s' * (others > 1)}" if others else ""
        return f"[green]found out by {', '.join(kill.rule for kill in made.kills)}[/]{beside}"

    def _left(self) -> str:
        """How long the rest takes, if it takes as long as what was done."""
        if not self._open.total():
            return ""
        usual = self._seconds.total() / self._done.total()
        mean = {k: self._seconds[k] / n if (n := self._done[k]) else usual for k in self._open}
        seconds = sum(count * mean[kind] for kind, count in self._open.items()) / self._workers
        return f"; about {_in_words(seconds)} left"


def _names(cells: Sequence[Cell]) -> str:
    return ", ".join(cell.rule for cell in cells)


def _in_words(seconds: float) -> str:
    minutes = round(seconds / 60)
    if minutes < 1:
        return "a minute"
    return f"{minutes} min" if minutes < 100 else f"{minutes / 60:.1f} h"
