"""Runs side by side: every rule with what it came to in each, and what makes them unlike."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from aml_contract.checking.result import RuleResult
from aml_contract.comparison.changes import Changes, changes_of
from aml_contract.comparison.sources import Source
from aml_contract.outcome import Level, Outcome
from aml_contract.report.wording import ORDER


@dataclass(frozen=True)
class Row:
    """One rule, and its result in each run; ``None`` where it was not among those tried."""

    rule: str
    level: Level
    results: tuple[RuleResult | None, ...]

    @property
    def outcomes(self) -> list[Outcome | None]:
        """What it came to in each."""
        return [result.outcome if result else None for result in self.results]

    @property
    def differs(self) -> bool:
        """Whether it came to something else in one of those that tried it."""
        return len(set(self.outcomes) - {None}) > 1

    @property
    def passed(self) -> bool:
        """Whether it passed wherever it was tried."""
        return set(self.outcomes) <= {Outcome.PASSED, None}

    @property
    def worst(self) -> int:
        """The worst outcome's place among all, the worst first."""
        return min(ORDER.index(outcome) for outcome in self.outcomes if outcome)


@dataclass(frozen=True)
class SideBySide:
    """Several runs side by side."""

    sources: Sequence[Source]
    rows: list[Row]
    """What differs first, then what failed, then by name."""
    remarks: list[str]
    """What makes the runs unlike, a sentence each."""
    changes: list[Changes]
    """Between runs of the same endpoint."""

    @property
    def sentence(self) -> str:
        """The comparison in one sentence."""
        endpoints = len({source.endpoint for source in self.sources})
        what = f"{len(self.sources)} runs of " + (
            "one endpoint" if endpoints == 1 else f"{endpoints} endpoints"
        )
        differing = sum(row.differs for row in self.rows)
        if not differing:
            return f"{what}; no rule came out differently."
        rules = "1 rule" if differing == 1 else f"{differing} rules"
        return f"{what}; {rules} of {len(self.rows)} came out differently."


def side_by_side(sources: Sequence[Source]) -> SideBySide:
    """Put runs side by side."""
    rows = sorted(_rows(sources), key=lambda row: (not row.differs, row.worst, row.rule))
    return SideBySide(sources, rows, list(_remarks(sources)), changes_of(sources))


def _rows(sources: Sequence[Source]) -> Iterator[Row]:
    by_source = [{one.rule: one for one in source.report.rules} for source in sources]
    names = dict.fromkeys(name for results in by_source for name in results)
    for name in names:
        results = tuple(found.get(name) for found in by_source)
        # Of several kits the newest may have changed the level; the last one's is shown.
        level = next(result.level for result in reversed(results) if result)
        yield Row(name, level, results)


def _remarks(sources: Sequence[Source]) -> Iterator[str]:
    unlike: tuple[tuple[str, Callable[[Source], object], str], ...] = (
        ("kit", lambda s: s.report.kit, "a rule may ask something else in another version"),
        ("track", lambda s: s.report.settings.track, "other rules apply"),
        (
            "claims",
            lambda s: ", ".join(s.report.settings.capabilities) or "nothing",
            "what is declined is not asked",
        ),
        ("seed", lambda s: s.report.seed, "what depends on the course of a run may come and go"),
        (
            "requests at once",
            lambda s: s.report.settings.concurrency,
            "times and findings under load cannot be compared",
        ),
        ("strict", lambda s: s.report.settings.strict, "a broken SHOULD failed under it only"),
        ("quick", lambda s: s.report.settings.quick, "a quick run tries fewer rules"),
    )
    for name, of, why in unlike:
        values = {source.letter: of(source) for source in sources}
        if len(set(values.values())) > 1:
            each = ", ".join(f"{letter} {_word(value)}" for letter, value in values.items())
            yield f"They differ in {name} ({each}): {why}."
    rules = [frozenset(one.rule for one in source.report.rules) for source in sources]
    some = len(frozenset.union(*rules) - frozenset.intersection(*rules))
    if some:
        counts = ", ".join(f"{s.letter} {len(own)}" for s, own in zip(sources, rules, strict=True))
        yield f"They differ in the rules that were tried ({counts}): {some} only in some of them."
    for source in sources:
        if source.report.stopped:
            yield f"{source.letter} did not come to its end ({source.report.stopped})."


def _word(value: object) -> str:
    return {True: "yes", False: "no"}[value] if isinstance(value, bool) else str(value)
