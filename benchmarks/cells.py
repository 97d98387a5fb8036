"""A measurement in cells, each kept as a file as soon as it is there.

A command that is cut short goes on where it was. Files lie under a digest of the code that is
measured and that measures, so that no figure of other code comes into a table.
"""

from __future__ import annotations

import hashlib
import json
import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

ROOT = Path(__file__).parents[1]
_CODE = ("sdk", "adapters", "reference_servers", "benchmarks/measuring")
_BUSY = 0.5
"""Load above which a machine is not quiet."""

Figures = Mapping[str, Any]
"""What a cell gives: what JSON can hold."""

_console = Console(stderr=True)


@dataclass(frozen=True)
class Cell:
    """One measurement."""

    name: str
    seconds: float
    """What it takes, about, on two quiet cores."""
    measure: Callable[[], Figures]


class Cells:
    """The files of one table.

    Args:
        directory: where all tables keep theirs.
        table: its name.
        code: patterns of further files that its figures depend on.
    """

    def __init__(self, directory: Path, table: str, code: Sequence[str] = ()) -> None:
        self.directory = directory / table / digest(code)
        self.directory.mkdir(parents=True, exist_ok=True)

    def missing(self, cells: Sequence[Cell]) -> list[Cell]:
        """Those that are not measured yet."""
        return [cell for cell in cells if not self._file(cell).exists()]

    def figures(self, cells: Sequence[Cell]) -> list[Figures]:
        """The figures of each cell: kept ones, and others measured now.

        Each has ``busy`` too: the load of the machine before anything was measured.
        """
        missing = self.missing(cells)
        busy = psutil.getloadavg()[0]
        if missing and busy > _BUSY:
            _console.print(f"[yellow]The load is {busy:.1f}: times will tell of other work too.")
        with steps(f"{len(missing)} of {len(cells)} measurements", missing) as done:
            for cell in missing:
                whole = self._file(cell).with_suffix(".new")
                whole.write_text(json.dumps({**cell.measure(), "busy": busy}))
                whole.replace(self._file(cell))
                done(cell)
        return [json.loads(self._file(cell).read_text()) for cell in cells]

    def _file(self, cell: Cell) -> Path:
        return self.directory / f"{re.sub(r'[^0-9A-Za-z]+', '-', cell.name)}.json"


@contextmanager
def steps(what: str, cells: Sequence[Cell]) -> Iterator[Callable[[Cell], None]]:
    """Say what is to be done, how long it will take and how far it is; call with each cell done.

    Ctrl-C ends the program.
    """
    seconds = sum(cell.seconds for cell in cells)
    told = f"{seconds:.0f} s" if seconds < 100 else f"{seconds / 60:.0f} min"
    if cells:
        _console.print(f"{what}: about {told} on two quiet cores. Ctrl-C keeps what is done.")
    columns = (
        TextColumn("{task.description}"),
        *(BarColumn(), TimeElapsedColumn(), TextColumn("left"), TimeRemainingColumn()),
    )
    with Progress(*columns, console=_console, disable=not cells) as progress:
        task = progress.add_task("", total=seconds)

        def done(cell: Cell) -> None:
            progress.advance(task, cell.seconds)
            progress.console.print(f"done: {cell.name}", highlight=False)

        try:
            yield done
        except KeyboardInterrupt:
            progress.console.print("Interrupted; the same command goes on with the rest.")
            sys.exit(130)


def digest(more: Sequence[str] = ()) -> str:
    """Changes with the code that is measured, and with that which measures."""
    files = sorted(file for part in _CODE for file in (ROOT / part).rglob("*.py"))
    files += sorted(file for pattern in more for file in ROOT.glob(pattern))
    return hashlib.sha256(b"".join(file.read_bytes() for file in files)).hexdigest()[:12]
