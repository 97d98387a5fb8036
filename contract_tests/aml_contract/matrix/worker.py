"""A worker: a process that tries one job after the other, ``python -m aml_contract.matrix.worker``.

It reads jobs from its standard input and writes what becomes of them to its standard
output, one JSON object a line. When its input ends, so does it, and the server under way:
nothing outlives the matrix, though that be killed.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import sys
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from typing import TextIO

from pydantic import BaseModel, TypeAdapter

from aml_contract.checking.check import Check, View
from aml_contract.checking.result import RuleResult
from aml_contract.endpoint.http import open_endpoint
from aml_contract.endpoint.target import Target
from aml_contract.matrix.cells import Cell, cell_of
from aml_contract.matrix.entry import KEY, KEY_VARIABLE, Entry
from aml_contract.matrix.plan import Job
from aml_contract.rule import Rule, all_rules
from aml_contract.run import new_run_id

JOB = TypeAdapter(Job)
LONGEST_LINE = 2**20


class Said(BaseModel):
    """A line of a worker: a cell, or the end of its job."""

    cell: Cell | None = None
    trouble: str | None = None
    """At the end: why the server could not be tried."""


class _Voice(View):
    """Turns results into lines."""

    def __init__(self, job: Job, out: TextIO) -> None:
        self._job = job
        self._out = out

    def say_line(self, said: Said) -> None:
        self._out.write(said.model_dump_json(exclude_none=True) + "\n")
        self._out.flush()

    def rule_finished(self, rule: Rule, result: RuleResult) -> None:
        cell = cell_of(
            result,
            server=self._job.entry.name,
            seed=self._job.seed,
            at=datetime.now(UTC).isoformat(timespec="seconds"),
            digest=self._job.digest,
        )
        self.say_line(Said(cell=cell))

    def kit_error(self, rule: Rule, text: str) -> None:
        sys.stderr.write(f"{self._job.entry.name}, seed {self._job.seed}, {rule.name}:\n{text}\n")


async def try_job(job: Job, out: TextIO) -> None:
    """Start the server and try the rules; cells and the end are written to ``out``."""
    voice = _Voice(job, out)
    wanted = frozenset(job.rules)
    rules = [rule for rule in all_rules() if rule.name in wanted]
    run_id = new_run_id()
    run = job.entry.run(job.seed, run_id, job.fuzz_budget)
    async with _started(job.entry) as target:
        check = Check(target, rules, run, view=voice, run_id=run_id)
        await check.execute()
    voice.say_line(Said(trouble=check.unreachable))


@contextlib.asynccontextmanager
async def _started(entry: Entry) -> AsyncIterator[Target]:
    """The target of an entry; one that must not be killed runs beside the check."""
    if entry.killable:
        yield entry.target()
        return
    async with open_endpoint(entry.target()) as running:
        yield entry.target(url=running.urls.health.removesuffix("/health"))


async def work(out: TextIO) -> None:
    """Do jobs until the input ends."""
    os.environ[KEY_VARIABLE] = KEY
    reader = asyncio.StreamReader(limit=LONGEST_LINE)
    loop = asyncio.get_running_loop()
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
    line = await reader.readline()
    while line:
        following = asyncio.create_task(reader.readline())
        job = asyncio.create_task(try_job(JOB.validate_json(line), out))
        await asyncio.wait({job, following}, return_when=asyncio.FIRST_COMPLETED)
        if not job.done():  # nobody gives a second job: the input has ended
            job.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await job
        line = await following


def main() -> None:
    """Work; whatever else prints to standard output goes to standard error."""
    out = os.fdopen(os.dup(sys.stdout.fileno()), "w", encoding="utf-8")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    asyncio.run(work(out))


if __name__ == "__main__":
    main()
