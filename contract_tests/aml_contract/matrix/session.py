"""A session: one run of a matrix, or of a shard of it, that goes on where others ended."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from aml_contract.matrix.cells import Cell, CellFile, Key, read_cells
from aml_contract.matrix.crew import Watch, do_jobs
from aml_contract.matrix.judgement import Judgement, judge
from aml_contract.matrix.plan import Job, Shard, left, part
from aml_contract.rule import Rule


class Session(Watch):
    """The jobs of a shard, the cells there are, and those that are still to be made.

    Args:
        directory: where cells are kept.
        jobs: those of all shards.
        rules: all rules by name.
        shard: which part of the jobs is this session's.
    """

    def __init__(
        self, directory: Path, jobs: Sequence[Job], rules: Mapping[str, Rule], shard: Shard
    ) -> None:
        self._directory = directory
        self._shard = shard
        self._watch = Watch()
        self._file: CellFile | None = None
        self.jobs = part(jobs, shard)
        kept = read_cells(directory, {job.entry.name: job.digests for job in jobs})
        wanted = {key for job in self.jobs for key in job.keys}
        self.cells: dict[Key, Cell] = {k: c for k, c in kept.fresh.items() if k in wanted}
        self.stale = len(kept.stale & wanted)
        """How many cells other code or settings made, which are made again."""
        self.left = left(self.jobs, self.cells, rules)
        """What is to be done."""
        self.troubles: dict[tuple[str, int], str] = {}
        """Why servers could not be tried in this session."""

    async def execute(self, watch: Watch, *, workers: int) -> None:
        """Do what is left, ``workers`` servers side by side.

        Raises:
            asyncio.CancelledError: it was cancelled; finished cells are kept.
            OSError: cells cannot be written.
        """
        self._watch = watch
        self._file = CellFile(self._directory, str(self._shard))
        log = self._directory / f"log-{self._shard}.txt"
        try:
            await do_jobs(self.left, self, workers=workers, log=log)
        finally:
            self._file.close()

    def judgement(self) -> Judgement:
        """What the cells say that are there."""
        return judge(self.jobs, self.cells)

    def cell(self, cell: Cell) -> None:
        """Keep and pass on."""
        assert self._file is not None
        self._file.append(cell)
        self.cells[cell.key] = cell
        self._watch.cell(cell)

    def job_finished(self, job: Job, seconds: float, trouble: str | None) -> None:
        """Remember and pass on."""
        if trouble:
            self.troubles[job.name] = trouble
        self._watch.job_finished(job, seconds, trouble)
