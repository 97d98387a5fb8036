"""The summary of a matrix: its numbers, its judgement, and what was found where."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from importlib.metadata import version
from typing import Literal

from pydantic import BaseModel

from aml_contract.matrix.cells import Cell
from aml_contract.matrix.digest import kit_digest
from aml_contract.matrix.judgement import Judgement
from aml_contract.matrix.plan import Job
from aml_contract.outcome import Outcome
from aml_contract.rule import Rule

UNTRIED = frozenset({Outcome.NOT_APPLICABLE, Outcome.NOT_TESTED})


class Numbers(BaseModel):
    """How much was tried, and how much of it is as it should be."""

    servers: int
    broken: int
    healthy: int
    rules: int
    cells: int
    tried: int
    """Cells whose rule was tried, neither *not applicable* nor *not tested*."""
    kills: int
    """Pairs of a broken server and a rule that must find it out."""
    killed: int
    """Those that did."""
    alone: int
    """Those of them that did so by themselves alone; beside others something hid it."""
    healthy_runs: int
    """Checks of healthy servers: each under its seeds."""
    beyond: int
    """Findings on healthy servers beyond their lists."""
    unseen: int
    kit_errors: int
    missing: int
    """Checks that lack cells."""
    collateral: int
    """Findings on broken servers by rules that were not made for them."""
    hours: float
    """Seconds of all rules together, in hours; side by side they take less."""


class Found(BaseModel):
    """A finding, or why a killer did not kill."""

    server: str
    seed: int
    rule: str
    outcome: Outcome
    message: str
    """The first line of what the rule says, or why it is no kill."""


class Expected(BaseModel):
    """A true finding on a healthy server."""

    server: str
    rule: str
    why: str
    seen: int
    """Under how many seeds."""
    seeds: int


class Healthy(BaseModel):
    """A healthy server and what was found on it."""

    server: str
    track: str
    without: list[str]
    seeds: int
    beyond: int
    expected: list[Expected]


class Collateral(BaseModel):
    """A broken server and the rules that found it out without being made for it."""

    server: str
    made_for: list[str]
    failed: list[str]
    warned: list[str]


class Summary(BaseModel):
    """A matrix as JSON. ``good`` says whether all is as it should be."""

    matrix: Literal["aml-matrix/1"] = "aml-matrix/1"
    kit: str
    digest: str
    """Of the code of the rules."""
    made: str
    """The day on which the last cell was made; empty if there is none."""
    command: str
    good: bool
    numbers: Numbers
    survivors: list[Found]
    beyond: list[Found]
    unseen: list[Expected]
    kit_errors: list[Found]
    missing: dict[str, int]
    """Servers that lack cells, and how many of their checks do."""
    killers: dict[str, list[str]]
    """Of each rule the servers that it found out as it must."""
    healthy: list[Healthy]
    collateral: list[Collateral]


def summary(
    jobs: Sequence[Job], judgement: Judgement, rules: Iterable[Rule], command: str
) -> Summary:
    """Sum up a judged matrix; ``command`` is how it is made again."""
    cells = judgement.cells
    names = [rule.name for rule in rules]
    return Summary(
        kit=version("aml-contract"),
        digest=kit_digest(),
        made=max((cell.at for cell in cells), default="")[:10],
        command=command,
        good=judgement.good,
        numbers=_numbers(jobs, judgement, len(names)),
        survivors=[
            _found(kill.cell, f"{kill.trouble}: {kill.cell.line}") for kill in judgement.survivors
        ],
        beyond=[_found(cell) for cell in judgement.beyond],
        unseen=[
            Expected(server=one.server, rule=one.rule, why=one.why, seen=0, seeds=seeds)
            for one in judgement.unseen
            if (seeds := sum(job.entry.name == one.server for job in jobs))
        ],
        kit_errors=[_found(cell) for cell in judgement.kit_errors],
        missing=Counter(job.entry.name for job in judgement.missing),
        killers={
            name: sorted(
                kill.server for kill in judgement.kills if kill.rule == name and not kill.trouble
            )
            for name in names
        },
        healthy=_healthy(jobs, judgement),
        collateral=_collateral(jobs, judgement),
    )


def _numbers(jobs: Sequence[Job], judgement: Judgement, rules: int) -> Numbers:
    healthy = {job.entry.name for job in jobs if job.entry.healthy}
    servers = {job.entry.name for job in jobs}
    return Numbers(
        servers=len(servers),
        broken=len(servers - healthy),
        healthy=len(healthy),
        rules=rules,
        cells=len(judgement.cells),
        tried=sum(cell.outcome not in UNTRIED for cell in judgement.cells),
        kills=len(judgement.kills),
        killed=len(judgement.kills) - len(judgement.survivors),
        alone=sum(kill.cell.alone for kill in judgement.kills if not kill.trouble),
        healthy_runs=sum(job.entry.healthy for job in jobs),
        beyond=len(judgement.beyond),
        unseen=len(judgement.unseen),
        kit_errors=len(judgement.kit_errors),
        missing=len(judgement.missing),
        collateral=sum(map(len, judgement.collateral.values())),
        hours=round(sum(cell.seconds for cell in judgement.cells) / 3600, 1),
    )


def _healthy(jobs: Sequence[Job], judgement: Judgement) -> list[Healthy]:
    entries = {job.entry.name: job.entry for job in jobs if job.entry.healthy}
    seeds = Counter(job.entry.name for job in jobs)
    seen = Counter((cell.server, cell.rule) for cell in judgement.expected)
    beyond = Counter(cell.server for cell in judgement.beyond)
    return [
        Healthy(
            server=name,
            track=entry.track,
            without=list(entry.without),
            seeds=seeds[name],
            beyond=beyond[name],
            expected=[
                Expected(
                    server=name,
                    rule=rule,
                    why=why,
                    seen=seen[name, rule],
                    seeds=seeds[name],
                )
                for rule, why in sorted(entry.expected.items())
            ],
        )
        for name, entry in sorted(entries.items())
    ]


def _collateral(jobs: Sequence[Job], judgement: Judgement) -> list[Collateral]:
    entries = {job.entry.name: job.entry for job in jobs}
    return [
        Collateral(
            server=server,
            made_for=sorted(entries[server].kills),
            failed=sorted(cell.rule for cell in cells if cell.outcome is Outcome.FAILED),
            warned=sorted(cell.rule for cell in cells if cell.outcome is Outcome.WARNED),
        )
        for server, cells in sorted(judgement.collateral.items())
    ]


def _found(cell: Cell, message: str = "") -> Found:
    return Found(
        server=cell.server,
        seed=cell.seed,
        rule=cell.rule,
        outcome=cell.outcome,
        message=message or cell.line,
    )
