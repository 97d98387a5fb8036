"""Live progress of a check: a bar on a terminal, plain lines elsewhere."""

from __future__ import annotations

from rich.console import Console
from rich.markup import escape
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    SpinnerColumn,
    TextColumn,
    TimeElapsedColumn,
)

from aml_contract.checking.check import View
from aml_contract.checking.result import RuleResult
from aml_contract.endpoint.http import HTTPEndpoint, ignored_proxies
from aml_contract.outcome import Outcome
from aml_contract.report.bars import Bars
from aml_contract.report.terminal import STYLES
from aml_contract.report.wording import one_line, some, visible
from aml_contract.rule import Rule

_QUIET = frozenset({Outcome.NOT_APPLICABLE, Outcome.NOT_TESTED, Outcome.PASSED})
_NAMED = 3
_MILESTONES = 8
"""How often a log says how far the run is."""


class ProgressView(Bars, View):
    """Shows rules done, rules being tried and the time; findings as they are made.

    Args:
        console: where to; a terminal gets a live bar, anything else a line now and then.
        total: how many rules there are.
    """

    def __init__(self, console: Console, total: int) -> None:
        self._console = console
        self._total = total
        self._done = 0
        self._trying: list[str] = []
        self._said = ""
        super().__init__(
            Progress(
                SpinnerColumn(),
                MofNCompleteColumn(),
                TextColumn("rules"),
                BarColumn(bar_width=24),
                TimeElapsedColumn(),
                TextColumn("{task.description}"),
                console=console,
                transient=True,
                disable=not console.is_terminal,
            )
        )
        self._task = self._bars.add_task("", total=total)

    def say(self, text: str) -> None:
        """Show what is being waited for."""
        if self._console.is_terminal:
            self._bars.update(self._task, description=escape(visible(text)))
        elif text != self._said:  # seventeen restarts are told once
            self._said = text
            self._line(text)

    def ready(self, endpoint: HTTPEndpoint) -> None:
        """Say which endpoint answers, and which proxies are passed by."""
        urls = endpoint.urls
        self._line(f"Add {urls.add} · Search {urls.search} · Health {urls.health}")
        if names := ignored_proxies():
            self._line(f"Proxy variables are ignored: {', '.join(names)}")
        self._describe()

    def rule_started(self, rule: Rule) -> None:
        """Name it among those being tried."""
        self._trying.append(rule.name)
        self._describe()

    def rule_finished(self, rule: Rule, result: RuleResult) -> None:
        """Count it, and show it if something was found."""
        if rule.name in self._trying:
            self._trying.remove(rule.name)
        self._done += 1
        self._bars.advance(self._task)
        self._describe()
        if result.outcome not in _QUIET:
            self._line(one_line(result), STYLES[result.outcome])
        if not self._console.is_terminal and self._milestone():
            self._line(f"{self._done} of {self._total} rules are through")

    def _milestone(self) -> bool:
        before, now = (n * _MILESTONES // self._total for n in (self._done - 1, self._done))
        return now > before

    def _describe(self) -> None:
        self._bars.update(self._task, description=escape(some(self._trying, _NAMED)))

    def _line(self, text: str, style: str | None = None) -> None:
        self._console.print(
            visible(text), style=style, markup=False, highlight=False, soft_wrap=True
        )
