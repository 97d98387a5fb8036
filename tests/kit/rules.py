"""Rules of our own for tests of the runner; they are in no registry."""

import itertools

from aml_contract.outcome import Level
from aml_contract.rule import Cost, Rule

_count = itertools.count()


def made(check, level=Level.MUST, name=None, **more):
    return Rule(
        name=name or f"test/rule-{next(_count)}",
        level=level,
        clauses=("A12",),
        title="It works.",
        why="Because.",
        fix="Repair it.",
        check=check,
        cost=more.pop("cost", Cost(1, 1)),
        **more,
    )
