"""A question as ranking reads it: weighted terms, and a vector."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from aml_adapters.hybrid.embedding import Vectors
from aml_adapters.hybrid.entries import DATE, Entries
from aml_adapters.hybrid.index import Floats, UserIndex
from aml_adapters.hybrid.ranking import score, weighted
from aml_adapters.hybrid.tokens import query_terms

# What a term of the options counts beside one of the question. On AMemGym's twelve users
# options raise recall@10 of the evidence from .92 to .97; anything from .3 to 1 does.
_OPTION = 0.5
_LONGEST = 2_000  # different terms


@dataclass(frozen=True)
class Query:
    """What is looked for. Without words (``?``) it has no vector."""

    weights: Mapping[str, float]
    vector: Vectors | None

    @classmethod
    def of(
        cls, text: str, options: Sequence[str], embed: Callable[[Sequence[str]], Vectors]
    ) -> Query:
        """Read a question, whose options may steer (clause S2); ``embed`` makes its vector."""
        weights = weighted(
            query_terms(text), [term for each in options for term in query_terms(each)], _OPTION
        )
        meaningful = any(character.isalnum() for character in text)
        return cls(dict(list(weights.items())[:_LONGEST]), embed([text])[0] if meaningful else None)

    def scores(self, index: UserIndex, entries: Entries, user: int) -> Floats:
        """A finite score for each row of the user's index; higher is better."""
        texts = entries.postings(user, self.weights)
        dated = entries.postings(user, (DATE + term for term in self.weights))
        dates = {term.removeprefix(DATE): found for term, found in dated.items()}
        return score(index, self.weights, texts, dates, self.vector)
