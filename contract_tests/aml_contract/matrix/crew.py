"""The crew: workers in processes of their own, which share the jobs of a matrix."""

from __future__ import annotations

import asyncio
import contextlib
import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from aml_contract.matrix.cells import Cell
from aml_contract.matrix.plan import Job
from aml_contract.matrix.worker import JOB, LONGEST_LINE, Said

_TO_CLEAN_UP = 60.0
"""Seconds that a worker has to end its server when the matrix is interrupted."""


class Watch:
    """Is told what the crew does; this one does not mind."""

    def cell(self, cell: Cell) -> None:
        """A cell was made."""

    def job_finished(self, job: Job, seconds: float, trouble: str | None) -> None:
        """A job came to its end; ``trouble`` says why its server could not be tried."""


async def do_jobs(jobs: Iterable[Job], watch: Watch, *, workers: int, log: Path) -> None:
    """Do all jobs, ``workers`` of them side by side.

    What workers write to standard error is appended to ``log``.

    Raises:
        asyncio.CancelledError: it was cancelled; the servers under way are gone.
        OSError: the log cannot be written, or ``watch`` could not.
    """
    queue = iter(jobs)
    try:
        async with asyncio.TaskGroup() as group:
            for _ in range(workers):
                group.create_task(_Worker(watch, log).do(queue))
    except ExceptionGroup as group_of_errors:  # what ends one worker ends them all
        raise group_of_errors.exceptions[0] from None


class _Worker:
    """One process, started when it is needed and again when it has died."""

    def __init__(self, watch: Watch, log: Path) -> None:
        self._watch = watch
        self._log = log
        self._process: asyncio.subprocess.Process | None = None

    async def do(self, jobs: Iterator[Job]) -> None:
        try:
            for job in jobs:
                began = time.monotonic()
                trouble = await self._one(job)
                self._watch.job_finished(job, time.monotonic() - began, trouble)
        finally:
            await asyncio.shield(self._dismiss())

    async def _one(self, job: Job) -> str | None:
        """Do one job; why its server could not be tried, if so."""
        process = self._process = self._process or await self._hired()
        assert process.stdin is not None
        assert process.stdout is not None
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):  # its output ends too
            process.stdin.write(JOB.dump_json(job) + b"\n")
            await process.stdin.drain()
        while line := await process.stdout.readline():
            said = Said.model_validate_json(line)
            if said.cell is None:
                return said.trouble
            self._watch.cell(said.cell)
        self._process = None
        code = await process.wait()
        return f"the kit's own process ended with {code}; see {self._log}"

    async def _hired(self) -> asyncio.subprocess.Process:
        with self._log.open("ab") as log:
            return await asyncio.create_subprocess_exec(
                *_command(),
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=log,
                limit=LONGEST_LINE,
                start_new_session=True,  # Ctrl-C is the matrix's; it ends workers in its own way
            )

    async def _dismiss(self) -> None:
        """End the process politely: it ends its server first."""
        process, self._process = self._process, None
        if process is None:
            return
        assert process.stdin is not None
        process.stdin.close()
        try:
            async with asyncio.timeout(_TO_CLEAN_UP):
                await process.communicate()
        except TimeoutError:
            process.kill()
            await process.wait()


def _command() -> Sequence[str]:
    return (sys.executable, "-m", "aml_contract.matrix.worker")
