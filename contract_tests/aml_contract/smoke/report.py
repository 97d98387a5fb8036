"""What a smoke run found, as figures, as JSON and as tables."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from statistics import median
from typing import Any

from rich.console import Console, ConsoleOptions, RenderResult
from rich.table import Table
from rich.text import Text

from aml_contract.latency import Latency, latency_of
from aml_contract.smoke.locomo import CATEGORIES, Conversation
from aml_contract.smoke.recall import ITEMS, TOKENS, Measured, Row, average, measure
from aml_contract.smoke.run import Record
from aml_contract.tokens import ANSWER_BUDGET


@dataclass(frozen=True)
class Tokens:
    """o200k tokens of Search answers against what the answer model reads (clause S14)."""

    budget: int
    median: float | None
    largest: int | None
    cut: int
    """Answers longer than the budget: their end is never read."""
    wasted: int
    """Answers whose first item alone is longer than the budget."""


@dataclass(frozen=True)
class Summary:
    """The figures of a run."""

    conversations: int
    messages: int
    questions: int
    without_evidence: int
    unknown_evidence: int
    retries: int
    complete: bool
    overall: Row
    by_category: dict[str, Row]
    add: Latency | None
    """Seconds of the Adds that were answered well; ``None`` if there were none."""
    search: Latency | None
    tokens: Tokens

    @classmethod
    def of(cls, record: Record, conversations: Sequence[Conversation]) -> Summary:
        """Measure every answer of a record."""
        measured = [
            measure(
                answer.question,
                {turn.id: turn for turn in answer.conversation.turns},
                answer.contents,
            )
            for answer in record.answers
        ]
        return cls(
            conversations=len(conversations),
            messages=record.messages,
            questions=len(measured),
            without_evidence=sum(c.without_evidence for c in conversations),
            unknown_evidence=sum(c.unknown_evidence for c in conversations),
            retries=record.retries,
            complete=record.complete,
            overall=average(measured),
            by_category={
                name: average([each for each in measured if each.category == number])
                for number, name in CATEGORIES.items()
            },
            add=latency_of(record.adds),
            search=latency_of(record.searches),
            tokens=_tokens(measured),
        )

    def as_json(self) -> dict[str, Any]:
        """The figures as a JSON object: recall from 0 to 1, seconds, tokens."""
        made = asdict(self)
        for name, latency in (("add", self.add), ("search", self.search)):
            made[name] = latency.model_dump() if latency else None
        return made

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        if self.add is None and self.search is None:
            yield Text("Nothing was answered well, so there is nothing to measure.")
            return
        yield self._recall_table()
        yield Text("")
        yield self._latency_table()
        yield Text("")
        yield from self._remarks()

    def _recall_table(self) -> Table:
        table = Table(
            title="Evidence recall: @5 … @100 items, within 2k … 32k tokens",
            title_justify="left",
            box=None,
            pad_edge=False,
        )
        table.add_column("questions", no_wrap=True)
        table.add_column("asked", justify="right")
        for k in ITEMS:
            table.add_column(f"@{k}", justify="right")
        table.add_column("MRR", justify="right")
        for budget in TOKENS:
            table.add_column(f"{budget // 1000}k", justify="right")
        rows = [*self.by_category.items(), ("all", self.overall)]
        for name, row in rows:
            figures = [row.among[k] for k in ITEMS] + [row.mrr]
            figures += [row.within[budget] for budget in TOKENS]
            table.add_row(
                name,
                str(row.questions),
                *("–" if figure is None else f"{figure:.3f}" for figure in figures),
                style="bold" if name == "all" else None,
            )
        return table

    def _latency_table(self) -> Table:
        table = Table(title="Latency in seconds", title_justify="left", box=None, pad_edge=False)
        table.add_column("request")
        table.add_column("answered", justify="right")
        for name in ("p50", "p95", "p99", "max"):
            table.add_column(name, justify="right")
        for name, latency in (("Add", self.add), ("Search", self.search)):
            if latency:
                figures = (latency.p50, latency.p95, latency.p99, latency.max)
                table.add_row(name, str(latency.count), *(f"{each:.3f}" for each in figures))
        return table

    def _remarks(self) -> RenderResult:
        t = self.tokens
        if self.tokens.largest and not any(self.overall.among.values()):
            yield Text(
                "No evidence came back in its own words, though something did. Recall looks for "
                "whole turns, so of a memory that rewrites what it stores it says nothing."
            )
        if t.median is not None:
            yield Text(
                f"A Search returned {t.median:,.0f} o200k tokens (median), {t.largest:,} at most; "
                f"the answer model reads {t.budget:,}."
            )
        if t.cut:
            yield Text(f"{t.cut} answers are longer than that: their end is never read.")
        if t.wasted:
            yield Text(f"In {t.wasted} of them the first item alone fills it.")
        if self.without_evidence:
            yield Text(f"{self.without_evidence} questions name no evidence and were left out.")
        if self.unknown_evidence:
            yield Text(f"{self.unknown_evidence} evidence ids point at no turn and were left out.")
        if self.retries:
            yield Text(f"{self.retries} requests had to be sent again.")


def _tokens(measured: Sequence[Measured]) -> Tokens:
    sizes = [each.tokens for each in measured]
    return Tokens(
        budget=ANSWER_BUDGET,
        median=median(sizes) if sizes else None,
        largest=max(sizes, default=None),
        cut=sum(size > ANSWER_BUDGET for size in sizes),
        wasted=sum(each.first_tokens > ANSWER_BUDGET for each in measured),
    )
