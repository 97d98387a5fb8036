"""The judgement on a matrix: do killers kill, and is every finding on a healthy server true?"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from aml_contract.matrix.cells import Cell, Key
from aml_contract.matrix.entry import Entry
from aml_contract.matrix.plan import Job
from aml_contract.outcome import Level, Outcome


@dataclass(frozen=True)
class Kill:
    """A rule that must find out a broken server."""

    server: str
    rule: str
    cell: Cell
    trouble: str | None
    """Why it did not; ``None`` if it did."""


@dataclass(frozen=True)
class Unseen:
    """A true finding of a healthy server that no seed has shown."""

    server: str
    rule: str
    why: str
    """Why it is listed."""


@dataclass
class Judgement:
    """What the cells of some jobs say together."""

    cells: list[Cell] = field(default_factory=list)
    kills: list[Kill] = field(default_factory=list)
    beyond: list[Cell] = field(default_factory=list)
    """Findings on healthy servers that their lists do not hold."""
    expected: list[Cell] = field(default_factory=list)
    """Findings on healthy servers that are true."""
    unseen: list[Unseen] = field(default_factory=list)
    kit_errors: list[Cell] = field(default_factory=list)
    collateral: dict[str, list[Cell]] = field(default_factory=dict)
    """What else was found on each broken server."""
    missing: list[Job] = field(default_factory=list)
    """Jobs that lack cells."""

    @property
    def survivors(self) -> list[Kill]:
        """The killers that did not kill."""
        return [kill for kill in self.kills if kill.trouble]

    @property
    def good(self) -> bool:
        """Whether the matrix is whole and as it should be."""
        return not (self.survivors or self.beyond or self.unseen or self.kit_errors or self.missing)


def judge(jobs: Sequence[Job], cells: Mapping[Key, Cell]) -> Judgement:
    """Judge the cells of these jobs; ``jobs`` hold the rules that were to be tried."""
    made = Judgement()
    whole: list[Job] = []
    for job in jobs:
        mine = {key.rule: cells[key] for key in job.keys if key in cells}
        made.cells += mine.values()
        made.kit_errors += [c for c in mine.values() if c.outcome is Outcome.KIT_ERROR]
        if len(mine) < len(job.rules):
            made.missing.append(job)
        else:
            whole.append(job)
        found = [cell for cell in mine.values() if cell.found]
        if job.entry.healthy:
            made.beyond += [cell for cell in found if cell.rule not in job.entry.expected]
            made.expected += [cell for cell in found if cell.rule in job.entry.expected]
        else:
            made.kills += kills_of(job.entry, mine)
            if others := [cell for cell in found if cell.rule not in job.entry.kills]:
                made.collateral[job.entry.name] = others
    made.unseen = list(_unseen(whole, made.expected))
    return made


def kills_of(entry: Entry, mine: Mapping[str, Cell]) -> Iterable[Kill]:
    """What became of the rules that must find out ``entry``, by the cells of its rules."""
    for rule, words in entry.kills.items():
        if (cell := mine.get(rule)) is None:
            continue
        fails = cell.level is Level.MUST and rule not in entry.risks
        wanted = Outcome.FAILED if fails else Outcome.WARNED
        trouble = None
        if cell.outcome is not wanted:
            trouble = f"it came to {cell.outcome} instead of {wanted}"
        elif words not in cell.message:
            trouble = f"it does not say {words!r}"
        yield Kill(entry.name, rule, cell, trouble)


def _unseen(jobs: Iterable[Job], expected: Iterable[Cell]) -> Iterable[Unseen]:
    seen = {(cell.server, cell.rule) for cell in expected}
    entries = {job.entry.name: job for job in jobs if job.entry.healthy}
    for name, job in entries.items():
        for rule, why in job.entry.expected.items():
            needed = rule in job.rules and rule not in job.entry.sometimes
            if needed and (name, rule) not in seen:
                yield Unseen(name, rule, why)
