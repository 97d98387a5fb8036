"""The check behind the items: one for all of them, in a thread beside pytest."""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Sequence
from pathlib import Path

from aml_contract.checking.background import BackgroundCheck
from aml_contract.checking.document import Report, report_of
from aml_contract.checking.events import read_events
from aml_contract.checking.result import RuleResult
from aml_contract.config import Resolved
from aml_contract.config.target import target_from
from aml_contract.configured import check_from, run_from
from aml_contract.report.wording import finding_text
from aml_contract.rule import Rule


class SharedCheck:
    """One check of one target; it starts when the first result is wanted.

    Args:
        settings: what was asked for.
        run_id: the run's name; xdist's workers share that of their controller.
        seed: the run's course; xdist's workers share it too. ``None`` leaves it to the settings.
        directory: where events and large bodies are kept.

    Raises:
        TargetError: the settings name no endpoint, or none that makes sense.
    """

    def __init__(
        self, settings: Resolved, *, run_id: str, seed: int | None, directory: Path
    ) -> None:
        self.settings = settings
        self.target = target_from(settings)
        self._run = run_from(settings, self.target, run_id, seed)
        self.events = directory / "events.jsonl"
        self._directory = directory
        self._background: BackgroundCheck | None = None
        self._handler: signal.Handlers | None = None
        """What SIGTERM did before."""

    def start(self, rules: Sequence[Rule]) -> None:
        """Begin, if it has not begun."""
        if self._background is None:
            check = check_from(
                self.settings, self.target, rules, self._run, directory=self._directory
            )
            self._background = BackgroundCheck(check)
            self._handler = _end_politely()
            self._background.start()

    def result(self, rule: Rule) -> RuleResult:
        """Wait for a rule's result.

        Raises:
            Unreachable: nothing answers.
            Exception: whatever ended the check before the rule came to its result.
        """
        assert self._background is not None
        return self._background.result(rule.name)

    def finding(self, rule: Rule, result: RuleResult) -> str:
        """A failure as the builder reads it."""
        assert self._background is not None
        return finding_text(self._background.check.report(), result, rule)

    def traceback(self, rule: Rule) -> str:
        """Where the kit broke in a rule."""
        assert self._background is not None
        kept = self._background.check.log.events
        broken = (event for event in kept if event["event"] == "kit_error")
        return "".join(event["traceback"] for event in broken if event["rule"] == rule.name)

    def stop(self) -> None:
        """End it, if it still runs: after ``-x`` or Ctrl-C."""
        if self._background is not None:
            self._background.stop()
            if self._handler is not None:
                signal.signal(signal.SIGTERM, self._handler)

    def report(self) -> Report | None:
        """What it came to, here or in the worker of xdist that ran it; ``None`` if none did."""
        if self._background is not None:
            return self._background.check.report()
        with contextlib.suppress(OSError):
            return report_of(read_events(self.events))
        return None

    @property
    def run_id(self) -> str:
        """The run's name."""
        return self._run.salt

    @property
    def seed(self) -> int:
        """The run's course."""
        return self._run.seed

    @property
    def trouble(self) -> str | None:
        """Why the events are not on disk."""
        return self._background.check.log.trouble if self._background is not None else None


def _end_politely() -> signal.Handlers | None:
    """Let SIGTERM end pytest as Ctrl-C does, or the server that the kit started stays behind.

    Returns:
        what it did before, if it was left to itself.
    """
    here = threading.current_thread() is threading.main_thread()
    if not here or signal.getsignal(signal.SIGTERM) is not signal.SIG_DFL:
        return None
    signal.signal(signal.SIGTERM, lambda *_: signal.raise_signal(signal.SIGINT))
    return signal.SIG_DFL
