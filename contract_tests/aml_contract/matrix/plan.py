"""The plan: which servers are tried under which seeds by which rules, and what of it is left."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from aml_contract.matrix.cells import Cell, Key
from aml_contract.matrix.digest import cell_digest
from aml_contract.matrix.entry import Entry
from aml_contract.rule import Rule

HEALTHY_FUZZ = 5.0
"""Seconds of generated requests in each check of a healthy server; each seed brings others."""
BROKEN_FUZZ = 2.0
"""The same of a broken one; those made for it have budgets of their own."""
_SHARD = re.compile(r"([0-9]+)/([0-9]+)")


class PlanError(ValueError):
    """What was asked for makes no sense; the message says why in one sentence."""


@dataclass(frozen=True)
class Shard:
    """The ``number``-th of ``count`` parts, counted from 1."""

    number: int = 1
    count: int = 1

    @classmethod
    def read(cls, text: str) -> Shard:
        """Read ``2/5``.

        Raises:
            PlanError: it is none.
        """
        match = _SHARD.fullmatch(text)
        if not match or not 1 <= int(match[1]) <= int(match[2]):
            raise PlanError(f"a shard is written 1/4 (the first of four), not {text!r}")
        return cls(int(match[1]), int(match[2]))

    def __str__(self) -> str:
        return f"{self.number}-of-{self.count}"


@dataclass(frozen=True)
class Job:
    """One check of one server: the rules in it are tried side by side."""

    entry: Entry
    seed: int
    rules: tuple[str, ...]
    fuzz_budget: float
    digests: Mapping[str, str]
    """Of all that decides a cell, by rule."""

    @property
    def name(self) -> tuple[str, int]:
        """The server and the seed."""
        return self.entry.name, self.seed

    @property
    def keys(self) -> list[Key]:
        """The cells that it makes."""
        return [Key(self.entry.name, self.seed, rule) for rule in self.rules]


def jobs_of(
    entries: Sequence[Entry], rules: Sequence[Rule], seeds: int, fuzz_budget: float | None = None
) -> list[Job]:
    """Healthy servers under the seeds 1 to ``seeds``, then broken ones under seed 1.

    ``fuzz_budget`` is in seconds for each check; not given, a broken server gets less.
    """
    names = tuple(rule.name for rule in rules)
    made: list[Job] = []
    for entry in sorted(entries, key=lambda entry: (not entry.healthy, entry.name)):
        usual = HEALTHY_FUZZ if entry.healthy else BROKEN_FUZZ
        budget = usual if fuzz_budget is None else fuzz_budget
        digests = {rule.name: cell_digest(entry, budget, rule) for rule in rules}
        under = range(1, seeds + 1) if entry.healthy else (1,)
        made += [Job(entry, seed, names, budget, digests) for seed in under]
    return made


def part(jobs: Sequence[Job], shard: Shard) -> list[Job]:
    """The jobs of one shard: dealt in turn, so that each gets its share of long ones."""
    return list(jobs[shard.number - 1 :: shard.count])


def left(jobs: Sequence[Job], fresh: Mapping[Key, Cell], rules: Mapping[str, Rule]) -> list[Job]:
    """What is still to be done: of each job the rules whose cells are missing.

    Some rules judge what all others of their run sent; where one of those is missing, the
    whole run is made again.
    """
    found = []
    for job in jobs:
        missing = tuple(key.rule for key in job.keys if key not in fresh)
        if any(rules[name].last for name in missing):
            found.append(job)
        elif missing:
            found.append(replace(job, rules=missing))
    return found
