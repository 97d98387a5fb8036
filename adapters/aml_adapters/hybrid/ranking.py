"""The order in which one user's memories answer a query.

BM25 over context windows, plus a little of the cosine. A memory's window is itself and
the two messages on either side in its session, which count for less the further away
they are: what answers a question often stands beside the words of the question. Every
statistic (how rare a term is, how long a window is) is of this user alone (clause S15).

The constants were tuned on two LoCoMo conversations (26 and 30) and lie on a plateau:
none of them, changed by a third, moves recall@10 by more than about one point.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

from aml_adapters.hybrid.embedding import Vectors, cosines
from aml_adapters.hybrid.index import Floats, Integers, UserIndex

_K1 = 0.9
_B = 0.6
_WINDOW = (0.5, 0.25)
"""What a neighbour counts: one message away, two messages away."""
_COSINE = 0.5
"""What the windowed mean cosine counts beside the best lexical score, which is 1."""

Postings = Mapping[str, tuple[Integers, Integers]]
"""For each term the sequence numbers of the memories that hold it, and how often each does."""


def order(scores: Floats, index: UserIndex) -> Integers:
    """All rows, best first; among equals the latest."""
    latest_first = index.newest_first()
    return latest_first[np.argsort(-scores[latest_first], kind="stable")]


def score(
    index: UserIndex,
    weights: Mapping[str, float],
    texts: Postings,
    dates: Postings,
    query: Vectors | None,
) -> Floats:
    """A finite score for each row; 0 throughout when there is nothing to go by.

    Args:
        index: the user's memories.
        weights: what each term of the query counts.
        texts: where the terms stand in texts.
        dates: where they stand in the dates of messages.
        query: the query's vector; ``None`` leaves meaning out.
    """
    lexical = _bm25(index, weights, texts, dates)
    best = lexical.max(initial=0.0)
    if best > 0:
        lexical /= best
    if query is not None:
        near = _windowed(index, cosines(index.vectors, index.norms, query))
        lexical += _COSINE * near / (1 + 2 * sum(_WINDOW))
    return lexical.round(6)


def _bm25(
    index: UserIndex, weights: Mapping[str, float], texts: Postings, dates: Postings
) -> Floats:
    count = len(index.sequences)
    total = np.zeros(count)
    lengths = _windowed(index, index.lengths.astype(np.float64))
    average = lengths.mean() if count else 1.0
    norm = _K1 * (1 - _B + _B * lengths / max(average, 1.0))
    for term, weight in weights.items():
        frequency = _windowed(index, _column(index, texts.get(term)))
        frequency += _column(index, dates.get(term)) > 0
        holding = np.count_nonzero(frequency)
        if holding:
            rarity = np.log1p((count - holding + 0.5) / (holding + 0.5))
            total += weight * rarity * frequency / (frequency + norm)
    return total


def _column(index: UserIndex, found: tuple[Integers, Integers] | None) -> Floats:
    column = np.zeros(len(index.sequences))
    if found is not None:
        sequences, counts = found
        column[index.rows(sequences)] = counts
    return column


def _windowed(index: UserIndex, values: Floats) -> Floats:
    """Each row's value plus those of its neighbours, weighted by distance."""
    total = values.copy()
    for beside in (index.before, index.after):
        step: npt.NDArray[np.int64] = beside
        onward = np.append(beside, len(values))
        padded = np.append(values, 0.0)
        for weight in _WINDOW:
            total += weight * padded[step]
            step = onward[step]
    return total


def weighted(question: Sequence[str], options: Sequence[str], option: float) -> dict[str, float]:
    """Count each term: those of the question as often as they occur, others ``option``."""
    weights: dict[str, float] = {}
    for term in question:
        weights[term] = weights.get(term, 0.0) + 1.0
    for term in options:
        weights.setdefault(term, option)
    return weights
