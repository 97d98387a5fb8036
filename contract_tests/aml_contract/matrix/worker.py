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
from collections.abc import AsyncIterator, Collection, Iterable
from typing import TextIO

from pydantic import BaseModel, TypeAdapter

from aml_contract.checking.check import Check, View
from aml_contract.checking.result import RuleResult
from aml_contract.endpoint.http import Unreachable, open_endpoint
from aml_contract.endpoint.target import Target
from aml_contract.matrix.cells import Cell
from aml_contract.matrix.entry import KEY, KEY_VARIABLE, Entry
from aml_contract.matrix.judgement import kills_of
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
    """Turns results into lines, but for those of killers that did not kill beside others.

    Args:
        job: what is being done.
        out: where lines go.
        again: the killers that are tried again, alone; only they have lines then.
    """

    def __init__(self, job: Job, out: TextIO, again: Collection[str] = ()) -> None:
        self._job = job
        self._out = out
        self._again = again
        self.hidden: list[str] = []
        """The killers that did not kill."""

    def rule_finished(self, rule: Rule, result: RuleResult) -> None:
        job, name, alone = self._job, rule.name, bool(self._again)
        if alone and name not in self._again:
            return
        digest = job.digests[name]
        cell = Cell.of(result, server=job.entry.name, seed=job.seed, digest=digest, alone=alone)
        if not alone and any(kill.trouble for kill in kills_of(job.entry, {name: cell})):
            self.hidden.append(name)
        else:
            say(Said(cell=cell), self._out)

    def kit_error(self, rule: Rule, text: str) -> None:
        sys.stderr.write(f"{self._job.entry.name}, seed {self._job.seed}, {rule.name}:\n{text}\n")


def say(said: Said, out: TextIO) -> None:
    """Write one line, at once."""
    out.write(said.model_dump_json(exclude_none=True) + "\n")
    out.flush()


async def try_job(job: Job, out: TextIO) -> None:
    """Start the server and try the rules; cells and the end are written to ``out``.

    A killer that does not kill in company is tried again by itself on a fresh server: what
    breaks a server for good hides from the other rules what they would find.
    """
    voice = _Voice(job, out)
    trouble = await _try(job, job.rules, voice)
    if voice.hidden and trouble is None:
        company = [name for rule in voice.hidden for name in _company(rule)]
        again = _Voice(job, out, again=voice.hidden)
        trouble = await _try(job, {*voice.hidden, *company}, again)
    say(Said(trouble=trouble), out)


async def _try(job: Job, names: Collection[str], voice: _Voice) -> str | None:
    """One check; why nothing was tried, if so."""
    rules = [rule for rule in all_rules() if rule.name in names]
    run_id = new_run_id()
    run = job.entry.run(job.seed, run_id, job.fuzz_budget)
    try:
        async with _started(job.entry) as target:
            check = Check(target, rules, run, view=voice, run_id=run_id)
            await check.execute()
    except Unreachable as error:
        return str(error)
    return check.unreachable


def _company(name: str) -> Iterable[str]:
    """What a rule must have beside it that judges what others sent: its family."""
    rules = {rule.name: rule for rule in all_rules()}
    if rules[name].last:
        family = rules[name].family
        yield from (rule.name for rule in rules.values() if rule.family == family)


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
