"""What changed between two runs of one endpoint."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise

from aml_contract.checking.result import RuleResult
from aml_contract.comparison.sources import Source
from aml_contract.latency import Latency, in_words
from aml_contract.outcome import Outcome

_KNOWN = frozenset({Outcome.PASSED, Outcome.WARNED, Outcome.FAILED})
_CLEARLY = 1.5
"""How many times as long is worth a word: less comes and goes with the machine's other work."""


@dataclass(frozen=True)
class Changes:
    """What is otherwise in a run than in the one before it, of the same endpoint."""

    before: Source
    after: Source
    newly_failing: list[RuleResult]
    fixed: list[RuleResult]
    """Failed before, and passes."""
    newly_warned: list[RuleResult]
    no_longer_known: list[RuleResult]
    """Came to a finding or passed before, and was not tried to its end now."""
    newly_known: list[RuleResult]
    """The other way round; what fails stands under ``newly_failing``."""
    latency: list[str]
    """A sentence for each percentile that is clearly another, or why there is none."""

    @property
    def groups(self) -> list[tuple[str, Outcome | None, list[RuleResult]]]:
        """What there is to be said, what weighs most first: heading, outcome, results."""
        found = [
            ("Newly failing", Outcome.FAILED, self.newly_failing),
            ("Newly warned", Outcome.WARNED, self.newly_warned),
            ("Tried before, not now", Outcome.NOT_TESTED, self.no_longer_known),
            ("Fixed", Outcome.PASSED, self.fixed),
            ("Tried now, not before", None, self.newly_known),
        ]
        return [group for group in found if group[2]]

    @property
    def sentence(self) -> str:
        """The changes in one sentence."""
        parts = [f"{len(results)} {heading.lower()}" for heading, _, results in self.groups]
        return f"{', '.join(parts) or 'no rule came out otherwise'}."


def changes_of(sources: Sequence[Source]) -> list[Changes]:
    """The changes from each run to the next of the same endpoint, in the order of time."""
    ordered = sorted(sources, key=lambda source: (source.endpoint, source.started))
    return [
        _changes(before, after)
        for _, runs in groupby(ordered, key=lambda source: source.endpoint)
        for before, after in pairwise(runs)
    ]


def _changes(before: Source, after: Source) -> Changes:
    earlier = {result.rule: result.outcome for result in before.report.rules}

    def having(now: Outcome, *, but: frozenset[Outcome]) -> list[RuleResult]:
        return [
            result
            for result in after.report.rules
            if result.outcome is now and earlier.get(result.rule) not in but
        ]

    known = {result.rule for result in after.report.rules if result.outcome in _KNOWN}
    return Changes(
        before,
        after,
        newly_failing=having(Outcome.FAILED, but=frozenset({Outcome.FAILED})),
        fixed=[
            result
            for result in having(Outcome.PASSED, but=frozenset())
            if earlier.get(result.rule) is Outcome.FAILED
        ],
        newly_warned=having(Outcome.WARNED, but=frozenset({Outcome.WARNED})),
        no_longer_known=[
            result
            for result in after.report.rules
            if result.rule not in known and earlier.get(result.rule) in _KNOWN
        ],
        newly_known=[
            result for result in having(Outcome.PASSED, but=_KNOWN) if result.rule in earlier
        ],
        latency=list(_slower_or_faster(before, after)),
    )


def _slower_or_faster(before: Source, after: Source) -> Iterator[str]:
    if _load(before) != _load(after):
        yield "Times are not compared: the runs sent other requests, or other numbers at once."
        return
    for operation, now in after.report.latency.items():
        was = before.report.latency.get(operation)
        if was is None:
            continue
        for name in ("p50", "p95"):
            then, today = getattr(was, name), getattr(now, name)
            factor = today / max(then, 1e-6)
            if not 1 / _CLEARLY < factor < _CLEARLY:
                word = "longer" if factor > 1 else "less long"
                yield (
                    f"{operation.capitalize()} takes {word}: {name} {in_words(today)}, "
                    f"before {in_words(then)} ({_counts(was, now)})"
                )


def _load(source: Source) -> tuple[int, frozenset[str]]:
    """What decides which requests are sent, and how many side by side."""
    tried = frozenset(one.rule for one in source.report.rules if one.requests)
    return source.report.settings.concurrency, tried


def _counts(was: Latency, now: Latency) -> str:
    return f"of {now.count} requests, before of {was.count}"
