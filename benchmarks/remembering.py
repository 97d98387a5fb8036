"""What memories remember of lives that change: every memory beside the controls of `aml probe`.

    python -m benchmarks.remembering [--write]

tells each memory of five invented users under each of three seeds, asks what is true after every
period, and gives the shares that `aml probe` gives, with intervals over all fifteen users.
"""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from aml_contract.probe.asking import Course
from aml_contract.probe.controls import control
from aml_contract.probe.guard import Guarded
from aml_contract.probe.intervals import Figure, ratio
from aml_contract.probe.lives import Parameters
from aml_contract.probe.metrics import at_depth
from aml_contract.probe.reply import Item, item_of
from aml_contract.probe.scoring import CURVES
from aml_contract.probe.world import Mode, World
from aml_sdk import AddRequest, MemorySystem, SearchRequest
from aml_servers.finding import find_system, make_system
from benchmarks import command, page
from benchmarks.cells import Cell, Cells, Figures

SYSTEMS = ("hybrid", "memgpt", "rag", "mem0", "long-context")
CONTROLS = ("bm25", "recency", "random")
SEEDS = (1, 2, 3)
MODES: tuple[Mode, ...] = ("direct", "advice")
_SIZE = Parameters(users=5)
_TINY = Parameters(users=2, periods=2, filler=1)
_CODE = (
    "benchmarks/remembering.py",
    "contract_tests/aml_contract/probe/languages/en.toml",
    *(
        f"contract_tests/aml_contract/probe/{name}.py"
        for name in (
            *("asking", "controls", "language", "lives", "memory", "metrics", "names"),
            *("readers", "reply", "sessions", "stages", "world"),
        )
    ),
)
"""What counts depend on; how they are worded or drawn is not of it."""
_RUN = "table"
"""Salts the names; stores are made for one run, so that none is met again."""
_SECONDS = {"hybrid": 60, "memgpt": 60, "rag": 60, "mem0": 120, "long-context": 60}

COLUMNS: dict[str, tuple[Mode, str]] = {
    "outdated first": ("direct", "stale_first"),
    f"found@{CURVES}": ("direct", "hit"),
    "both found": ("direct", "all"),
    "outdated only": ("direct", "stale_only"),
    "reader: first": ("direct", "memory_top"),
    "reader: newest": ("direct", "memory_latest"),
    "advice: outdated first": ("advice", "stale_first"),
    f"advice: found@{CURVES}": ("advice", "hit"),
}


class Called:
    """A memory system whose methods are called, in place of an endpoint."""

    def __init__(self, system: MemorySystem) -> None:
        self._system = system

    async def add(self, body: dict[str, Any]) -> None:
        """Add; the system's methods block."""
        self._system.add(AddRequest.model_validate(body))

    async def search(self, body: dict[str, Any]) -> Sequence[Item]:
        """Search."""
        found: Any = self._system.search(SearchRequest.model_validate(body))
        return [item_of(each.model_dump(mode="json", exclude_none=True)) for each in found]


def remembered(name: str, seed: int, size: Parameters) -> Figures:
    """The counts of one memory or control under one seed, by mode and metric."""
    world = World(seed, _RUN, size)
    if name in CONTROLS:
        return _counts(world, control(name, world))
    with tempfile.TemporaryDirectory() as directory:
        system = make_system(find_system(name), Path(directory))
        try:
            return _counts(world, Called(system))
        finally:
            system.close()


def _counts(world: World, memory: Any) -> Figures:
    record = asyncio.run(Course(world, Guarded(memory), MODES).run())
    return {mode: at_depth(world, record, mode, CURVES).counts() for mode in MODES}


def plan(names: Sequence[str], seeds: Sequence[int], size: Parameters) -> dict[str, list[Cell]]:
    """A cell for each memory and seed."""
    return {
        name: [
            Cell(
                f"{name} seed {seed}", _SECONDS.get(name, 6), partial(remembered, name, seed, size)
            )
            for seed in seeds
        ]
        for name in names
    }


def figure(cells: Sequence[Figures], mode: Mode, metric: str) -> Figure | None:
    """One share over the users of all seeds."""
    users = [user for cell in cells for user in cell[mode].get(metric, ())]
    if not users:
        return None
    parts, wholes = zip(*users, strict=True)
    return ratio(parts, wholes)


def tables(measured: Mapping[str, Sequence[Figures]]) -> str:
    """A line for each memory, then for each control."""
    rows = [
        [name, *(_told(figure(cells, mode, metric)) for mode, metric in COLUMNS.values())]
        for name, cells in measured.items()
    ]
    return page.table(["", *COLUMNS], rows)


def _told(found: Figure | None) -> str:
    if found is None or found.low is None or found.high is None:
        return "–"
    value, low, high = (round(100 * each) + 0 for each in (found.value, found.low, found.high))
    return f"{value} % ({low} to {high})"


def main() -> None:
    """Measure, and print or write the table."""
    names = [*SYSTEMS, *CONTROLS]
    options = command.parsed(command.options(__doc__), names)
    seeds, size = (SEEDS[:1], _TINY) if options.tiny else (SEEDS, _SIZE)
    planned = plan(options.only, seeds, size)
    kept = Cells(options.work, "remembering", _CODE)
    figures = iter(kept.figures([cell for cells in planned.values() for cell in cells]))
    measured = {name: [next(figures) for _ in cells] for name, cells in planned.items()}
    every = [cell for cells in measured.values() for cell in cells]
    origin = page.origin(every, options.work)
    command.publish(options, "remembering", f"{origin}\n\n{tables(measured)}")


if __name__ == "__main__":
    main()
