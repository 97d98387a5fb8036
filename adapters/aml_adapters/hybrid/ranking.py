"""The order in which one user's memories answer a query.

BM25 over context windows, plus a little of the cosine. A memory's window is itself and
the two messages on either side in its session, which count for less the further away
they are: what answers a question often stands beside the words of the question. Every
statistic (how rare a term is, how long a window is) is of this user alone (clause S15).

The constants were tuned on two LoCoMo conversations (26 and 30) and lie on a plateau:
none of them, changed by a third, moves recall@10 by more than about one point.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
import numpy.typing as npt

from aml_adapters.hybrid.embedding import Vectors, cosines
from aml_adapters.hybrid.index import Floats, Integers, UserIndex

_K1 = 0.9
_B = 0.6
_WINDOW = (0.7, 0.4)
"""What a neighbour counts: one message away, two messages away."""
_OWN = 0.3
"""What the message's own words count once more, so that it stands before its neighbours."""
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
    lengths = index.lengths.astype(np.float64)
    window = _bm25(
        weights, _frequencies(index, texts, dates, windows=True), _windowed(index, lengths)
    )
    own = _bm25(weights, _frequencies(index, texts, dates, windows=False), lengths)
    lexical = window + _OWN * own
    best = lexical.max(initial=0.0)
    if best > 0:
        lexical /= best
    if query is not None:
        near = _windowed(index, cosines(index.vectors, index.norms, query))
        lexical += _COSINE * near / (1 + 2 * sum(_WINDOW))
    return lexical.round(6)


def _bm25(
    weights: Mapping[str, float], frequencies: Iterator[tuple[str, Floats]], lengths: Floats
) -> Floats:
    """The textbook formula, with an inverse document frequency that is never negative."""
    count = len(lengths)
    total = np.zeros(count)
    norm = _K1 * (1 - _B + _B * lengths / max(float(lengths.mean()), 1.0)) if count else lengths
    for term, frequency in frequencies:
        holding = np.count_nonzero(frequency)
        rarity = np.log1p((count - holding + 0.5) / (holding + 0.5))
        total += weights[term] * rarity * frequency / (frequency + norm)
    return total


def _frequencies(
    index: UserIndex, texts: Postings, dates: Postings, *, windows: bool
) -> Iterator[tuple[str, Floats]]:
    """How often each term stands in each window or message; one term at a time in memory."""
    for term in dict.fromkeys((*texts, *dates)):
        frequency = _column(index, texts.get(term))
        if windows:
            frequency = _windowed(index, frequency)
        yield term, frequency + _column(index, dates.get(term))


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
