"""How much of a question's evidence comes back, and how early.

A turn is found where a returned content contains its text, white space and case aside.
Items are counted, and so are tokens: a memory that returns whole sessions finds more
among five items than one that returns single turns, and costs the reader more.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from statistics import fmean

from aml_contract import tokens
from aml_contract.namespace import squeeze
from aml_contract.smoke.chunking import CHARACTERS_PER_MESSAGE, content_of, pieces
from aml_contract.smoke.locomo import Question, Turn

ITEMS = (5, 10, 20, 100)
"""Numbers of items among which recall is given."""
TOKENS = (2_000, 8_000, 32_000)
"""Numbers of tokens among which recall is given."""


@dataclass(frozen=True)
class Measured:
    """One answered question.

    ``among`` gives, for each of :data:`ITEMS`, the share of the evidence turns found
    among that many first items; ``within`` the same for :data:`TOKENS`.
    """

    category: int
    among: Mapping[int, float]
    within: Mapping[int, float]
    reciprocal_rank: float
    """1 / the rank of the first item that completes an evidence turn; 0 if none does."""
    tokens: int
    """o200k tokens of all contents."""
    first_tokens: int
    """o200k tokens of the first content."""


@dataclass(frozen=True)
class Row:
    """Means over some questions; ``None`` where there are none."""

    questions: int
    among: Mapping[int, float | None]
    within: Mapping[int, float | None]
    mrr: float | None


def measure(question: Question, turns: Mapping[str, Turn], contents: Sequence[str]) -> Measured:
    """Measure one answer, its contents in the order in which they were returned."""
    evidence = [turns[name] for name in question.evidence]
    squeezed = [squeeze(content) for content in contents]
    ranks = [rank(turn, squeezed) for turn in evidence]
    encoded = [tokens.encode(content) for content in contents]
    ends = list(accumulate(len(each) for each in encoded))

    def share(found: Iterable[bool]) -> float:
        return fmean(1.0 if each else 0.0 for each in found)

    def read_within(budget: int) -> Iterable[bool]:
        whole = sum(1 for end in ends if end <= budget)
        prefix = squeezed[:whole]
        if whole < len(contents):
            rest = budget - (ends[whole - 1] if whole else 0)
            prefix.append(squeeze(tokens.decode(encoded[whole][:rest])))
        for turn, at in zip(evidence, ranks, strict=True):
            yield at is not None and (at <= whole or rank(turn, prefix) is not None)

    first = min((at for at in ranks if at is not None), default=None)
    return Measured(
        category=question.category,
        among={k: share(at is not None and at <= k for at in ranks) for k in ITEMS},
        within={budget: share(read_within(budget)) for budget in TOKENS},
        reciprocal_rank=1 / first if first else 0.0,
        tokens=ends[-1] if ends else 0,
        first_tokens=ends[0] if ends else 0,
    )


def rank(turn: Turn, squeezed: Sequence[str]) -> int | None:
    """The place, from 1, of the item with which all of the turn's text has come back.

    ``squeezed`` are the contents without white space and case.
    """
    whole = content_of(turn)
    needles = pieces(whole) if len(whole) > CHARACTERS_PER_MESSAGE else [turn.needle]
    places = []
    for needle in map(squeeze, needles):
        place = next((n for n, text in enumerate(squeezed, 1) if needle in text), None)
        if place is None:
            return None
        places.append(place)
    return max(places)


def average(measured: Sequence[Measured]) -> Row:
    """The mean of each figure: every question weighs the same."""

    def mean(values: Iterable[float]) -> float | None:
        found = list(values)
        return fmean(found) if found else None

    return Row(
        questions=len(measured),
        among={k: mean(each.among[k] for each in measured) for k in ITEMS},
        within={budget: mean(each.within[budget] for each in measured) for budget in TOKENS},
        mrr=mean(each.reciprocal_rank for each in measured),
    )
