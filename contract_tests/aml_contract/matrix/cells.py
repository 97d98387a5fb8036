"""Cells: what one rule came to on one server under one seed, and the files that keep them.

Each shard appends to a file of its own, one JSON object a line, so that a matrix that is
killed keeps its cells and several machines can share one. Reading takes all files together.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple, TextIO

from pydantic import BaseModel, ConfigDict, ValidationError

from aml_contract.checking.result import RuleResult
from aml_contract.outcome import Level, Outcome

FINDINGS = frozenset({Outcome.FAILED, Outcome.WARNED})
_LONGEST = 2_000
"""Characters of a message that are kept."""


class Key(NamedTuple):
    """Which cell."""

    server: str
    seed: int
    rule: str


class Cell(BaseModel):
    """What one rule came to on one server under one seed."""

    model_config = ConfigDict(frozen=True)

    server: str
    seed: int
    rule: str
    outcome: Outcome
    level: Level
    message: str = ""
    seconds: float = 0.0
    alone: bool = False
    """Whether the rule was tried again by itself, as others had hidden what it must find."""
    at: str
    """When, in ISO 8601."""
    digest: str
    """Of all that decides it; see :mod:`aml_contract.matrix.digest`."""

    @classmethod
    def of(cls, result: RuleResult, **others: Any) -> Cell:
        """The cell of a rule's result; ``others`` are the fields that no result has."""
        return cls(
            rule=result.rule,
            outcome=result.outcome,
            level=result.level,
            message=result.message[:_LONGEST],
            seconds=result.seconds,
            at=datetime.now(UTC).isoformat(timespec="seconds"),
            **others,
        )

    @property
    def key(self) -> Key:
        """Which cell it is."""
        return Key(self.server, self.seed, self.rule)

    @property
    def family(self) -> str:
        """The part of the rule's name before the slash."""
        return self.rule.partition("/")[0]

    @property
    def found(self) -> bool:
        """Whether the rule failed or warned."""
        return self.outcome in FINDINGS

    @property
    def line(self) -> str:
        """The first line of the message."""
        return self.message.partition("\n")[0]


class CellFile:
    """The file that one shard appends to.

    Raises:
        OSError: it cannot be written.
    """

    def __init__(self, directory: Path, shard: str) -> None:
        self.path = directory / f"cells-{shard}.jsonl"
        directory.mkdir(parents=True, exist_ok=True)
        self._file: TextIO = self.path.open("a", encoding="utf-8")
        if self.path.read_bytes()[-1:] not in (b"", b"\n"):
            self._file.write("\n")  # a kill tore the last line; the next shall stand alone

    def append(self, cell: Cell) -> None:
        """Add a cell and hand it to the operating system at once.

        Raises:
            OSError: the disk is full.
        """
        self._file.write(cell.model_dump_json() + "\n")
        self._file.flush()

    def close(self) -> None:
        """Close the file."""
        self._file.close()


class Kept(NamedTuple):
    """What earlier runs of the matrix left behind."""

    fresh: dict[Key, Cell]
    """The cells that are still true."""
    stale: frozenset[Key]
    """Those decided by other code or settings, and not made again since."""


def read_cells(directory: Path, digests: Mapping[str, Mapping[str, str]]) -> Kept:
    """The cells of all shards; ``digests`` says of each wanted server and rule what is true.

    Cells of other servers and rules are left out. A line torn by a kill is no cell.
    """
    fresh: dict[Key, Cell] = {}
    stale: set[Key] = set()
    for cell in _cells(sorted(directory.glob("cells-*.jsonl"))):
        wanted = digests.get(cell.server, {}).get(cell.rule)
        if cell.digest == wanted:
            fresh[cell.key] = cell
        elif wanted is not None:
            stale.add(cell.key)
    return Kept(fresh, frozenset(stale - fresh.keys()))


def _cells(files: Iterable[Path]) -> Iterable[Cell]:
    for path in files:
        for line in path.read_text(encoding="utf-8", errors="replace").splitlines():
            try:
                yield Cell.model_validate_json(line)
            except ValidationError:
                continue
