"""How much of the evidence comes back: every memory beside full text search, BM25 and chance.

    python -m benchmarks.retrieval [--write]

stores LoCoMo conversations (``--data``, or ``AML_DATA_DIR``) in each, asks every question that
has evidence, and gives recall of evidence turns among the first 5, 10, 20 and 100 items, and the
mean reciprocal rank of the first. ``--conversations`` names others than 41, 42 and 43, on which
nothing was tuned.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from statistics import fmean
from typing import Any

from aml_contract.smoke.locomo import CATEGORIES, Conversation
from aml_contract.smoke.recall import ITEMS, TOKENS
from benchmarks import command, page
from benchmarks.cells import Cell, Cells
from benchmarks.intervals import Interval, difference
from benchmarks.measuring.recall import recall
from benchmarks.measuring.talk import REPORTED_ON

LEAD = "hybrid"
"""What the others are compared with."""
_BASELINES = "benchmarks.measuring.baselines"
SYSTEMS = {
    "hybrid": "hybrid",
    "memgpt": "memgpt",
    "rag": "rag",
    "mem0": "mem0",
    "long-context": "long-context",
    "FTS5 with neighbours": f"{_BASELINES}:FTS5Windows",
    "FTS5": f"{_BASELINES}:FTS5",
    "BM25": f"{_BASELINES}:BM25",
    "chance": f"{_BASELINES}:Chance",
}
"""What is measured, as ``aml serve`` names it."""
_SECONDS = {"hybrid": 15, "memgpt": 25, "rag": 25, "mem0": 45, "long-context": 15}

Questions = Sequence[Mapping[str, Any]]
"""What is known of each answer, by question, in the same order for every system."""
Measure = Callable[[Mapping[str, Any]], float]


def _share(among: str, most: int) -> Measure:
    """The share of the evidence among so many items, or ``within`` so many tokens."""
    return lambda question: float(question[among][str(most)])


MEASURES: dict[str, Measure] = {
    **{f"@{items}": _share("among", items) for items in ITEMS},
    "MRR": lambda question: float(question["reciprocal_rank"]),
}
_READ: dict[str, Measure] = {
    **{f"{budget:,} tokens": _share("within", budget) for budget in TOKENS},
    "all tokens": lambda question: float(question["tokens"]),
}


def plan(names: Sequence[str], conversations: Sequence[Conversation]) -> dict[str, Cell]:
    """A cell for each system."""
    told = " ".join(conversation.name for conversation in conversations)
    return {
        name: Cell(
            f"{name} on {told}",
            _SECONDS.get(name, 4),
            partial(recall, SYSTEMS[name], conversations),
        )
        for name in names
    }


def tables(measured: Mapping[str, Questions]) -> str:
    """All questions, what the others lack or have more than the lead, and each category."""
    everything = {**MEASURES, **_READ}
    count = len(measured[LEAD])
    return "\n".join(
        [
            f"All {count} questions:\n",
            page.table(["", *everything], _means(measured, everything)),
            f"Differences to `{LEAD}`, with the bounds of 95 %:\n",
            page.table(["", *MEASURES], _differences(measured, MEASURES)),
            *_by_category(measured),
        ]
    )


def _means(measured: Mapping[str, Questions], measures: Mapping[str, Measure]) -> list[list[str]]:
    return [
        [name, *(_number(fmean(map(measure, questions))) for measure in measures.values())]
        for name, questions in measured.items()
    ]


def _differences(
    measured: Mapping[str, Questions], measures: Mapping[str, Measure]
) -> list[list[str]]:
    return [
        [name, *(_signed(_beside_lead(measured, name, measure)) for measure in measures.values())]
        for name in measured
        if name != LEAD
    ]


def _by_category(measured: Mapping[str, Questions]) -> Iterator[str]:
    for category, called in CATEGORIES.items():
        some = {
            name: [question for question in questions if question["category"] == category]
            for name, questions in measured.items()
        }
        if not some[LEAD]:
            continue
        rows = _means(some, MEASURES)
        for row in rows:
            more = _beside_lead(some, row[0], MEASURES["@10"])
            row.append("" if row[0] == LEAD else _signed(more))
        yield f"{called.capitalize()}, {len(some[LEAD])} questions:\n"
        yield page.table(["", *MEASURES, f"@10 less `{LEAD}`'s"], rows)


def _beside_lead(measured: Mapping[str, Questions], name: str, measure: Measure) -> Interval:
    these, those = (list(map(measure, measured[each])) for each in (name, LEAD))
    return difference(these, those)


def _number(value: float) -> str:
    return f"{value:.3f}" if value <= 1 else f"{value:,.0f}"


def _signed(interval: Interval) -> str:
    # Zero is added for those that are rounded to -0.
    value, low, high = (f"{round(each, 3) + 0.0:+.3f}".replace("-", "−") for each in interval)
    return f"{value} ({low} to {high})"


def main() -> None:
    """Measure, and print or write the tables."""
    parser = command.options(__doc__)
    parser.add_argument("--conversations", nargs="+", type=int, default=REPORTED_ON, metavar="NN")
    options = command.parsed(parser, list(SYSTEMS))
    if options.write and tuple(options.conversations) != REPORTED_ON:
        parser.error("--write is for the conversations on which nothing was tuned")
    conversations = command.conversations(parser, options, options.conversations)
    cells = plan(list(dict.fromkeys([LEAD, *options.only])), conversations)
    figures = Cells(options.work, "retrieval").figures(list(cells.values()))
    measured = {name: each["questions"] for name, each in zip(cells, figures, strict=True)}
    origin = page.origin(figures, options.work)
    command.publish(options, "retrieval", f"{origin}\n\n{tables(measured)}")


if __name__ == "__main__":
    main()
