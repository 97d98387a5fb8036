"""The contract as a pytest suite: its items, and the check behind them.

The check starts in a thread when the first item is set up, with the rules that selection
left over; each item waits for its own result. Under xdist all items go to one worker.
"""

from __future__ import annotations

import os
import secrets
import warnings
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import Any

import pytest

from aml_contract.checking.background import BackgroundCheck
from aml_contract.checking.check import RUNS, Check, capabilities_of
from aml_contract.checking.document import Report, report_of
from aml_contract.checking.events import read_events
from aml_contract.checking.result import RuleResult
from aml_contract.checking.selection import UnknownRuleError, select
from aml_contract.endpoint.http import Unreachable
from aml_contract.endpoint.target import Target, TargetError
from aml_contract.outcome import Outcome
from aml_contract.report.wording import finding_text, missing, some, totals, verdict_sentence
from aml_contract.rule import Capability, Rule, all_rules
from aml_contract.run import Run, new_run_id

PREFIX = "aml_contract"
"""First part of every node id: ``aml_contract::isolation/case-twins``."""


class ContractWarning(UserWarning):
    """A rule found a risk that fails nothing."""


# pytest shows a ``fail.Exception`` by its message alone: a traceback through the kit
# would tell a builder nothing.


class ContractViolation(pytest.fail.Exception):  # type: ignore[misc,name-defined]  # an attribute
    """A rule failed."""

    __module__ = "builtins"  # as pytest's own: the short summary then has room for words


class KitError(pytest.fail.Exception):  # type: ignore[misc,name-defined]  # an attribute
    """The kit broke in a rule; says nothing about the endpoint."""

    __module__ = "builtins"


class EndpointUnreachable(pytest.fail.Exception):  # type: ignore[misc,name-defined]  # an attribute
    """Nothing answers."""

    __module__ = "builtins"


class Suite:
    """Collects the rules, starts the check, prints the verdict.

    Raises:
        pytest.UsageError: the options make no sense.
    """

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        shared = getattr(config, "workerinput", {})
        self.run_id: str = shared.get("aml_run_id") or new_run_id()
        seed = shared.get("aml_seed", config.getoption("aml_seed"))
        self.seed: int = secrets.randbelow(2**31) if seed is None else seed
        self._background: BackgroundCheck | None = None
        self._named = [arg for arg in config.args if arg.split("::")[0] == PREFIX]
        self._take_arguments()
        try:
            self._rules = select(
                all_rules(),
                config.getoption("aml_only"),
                quick=config.getoption("aml_quick"),
            )
            self._target = None if config.option.collectonly else self._make_target()
        except (TargetError, UnknownRuleError) as error:
            raise pytest.UsageError(f"aml-contract: {error}") from error

    @property
    def directory(self) -> Path:
        """Where the run keeps its events."""
        return self._config.invocation_params.dir / RUNS / self.run_id

    # -- collection ------------------------------------------------------------------

    @pytest.hookimpl(wrapper=True)
    def pytest_make_collect_report(
        self, collector: pytest.Collector
    ) -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
        """Put the contract after whatever else the session collects."""
        report = yield
        if isinstance(collector, pytest.Session) and report.passed:
            suite = Contract.from_parent(
                collector, name=PREFIX, nodeid=PREFIX, suite=self, rules=self._wanted()
            )
            report.result = [*(report.result or []), suite]
        return report

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_make_scheduler(self, config: pytest.Config, log: Any) -> Any:
        """Send all rules to one worker: they share one check."""
        if config.getoption("dist") not in ("load", "worksteal"):
            return None  # the others group by file or by mark already
        from aml_contract.pytest_plugin.xdist import ContractScheduling

        return ContractScheduling(config, log)

    @pytest.hookimpl(optionalhook=True)
    def pytest_configure_node(self, node: Any) -> None:
        """Tell xdist's workers which run they are."""
        node.workerinput |= {"aml_run_id": self.run_id, "aml_seed": self.seed}

    # -- the check -------------------------------------------------------------------

    def result(self, item: RuleItem) -> RuleResult:
        """The result of an item's rule; the first call starts the check."""
        if self._background is None:
            rules = [one.rule for one in item.session.items if isinstance(one, RuleItem)]
            self._background = BackgroundCheck(self._check(rules))
            self._background.start()
        try:
            return self._background.result(item.rule.name)
        except Unreachable as error:
            if hasattr(self._config, "workerinput"):
                # A worker of xdist cannot end the session: every item says so.
                raise EndpointUnreachable(str(error), pytrace=False) from None
            pytest.exit(f"aml-contract: {error}", returncode=pytest.ExitCode.USAGE_ERROR)

    def finding(self, result: RuleResult) -> str:
        """A failure as the builder reads it."""
        assert self._background is not None
        check = self._background.check
        rule = next(rule for rule in check.rules if rule.name == result.rule)
        return finding_text(check.report(), result, rule)

    def pytest_sessionfinish(self) -> None:
        """End the check with the session: after -x or Ctrl-C it may still run."""
        if self._background is not None:
            self._background.stop()

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Print the verdict and what is missing."""
        events = self.directory / "events.jsonl"
        if not events.exists():
            return
        report = report_of(read_events(events))
        if report.stopped == "unreachable":
            return
        terminalreporter.section(f"contract: {report.verdict}")
        for line in _summary(report):
            terminalreporter.line(line)
        terminalreporter.line(f"seed {report.seed}; events: {os.path.relpath(events)}")

    def pytest_report_header(self) -> str:
        """Name the target."""
        target = self._target
        return f"aml-contract: {' '.join(target.flags)}, seed {self.seed}" if target else ""

    def _check(self, rules: list[Rule]) -> Check:
        config = self._config
        target = self._target
        assert target is not None
        declined = [Capability(name) for name in config.getoption("aml_without")]
        track = config.getoption("aml_track")
        quick = config.getoption("aml_quick")
        run = Run(
            self.seed,
            self.run_id,
            track=track,
            quick=quick,
            fuzz_budget=config.getoption("aml_fuzz_budget"),
            capabilities=capabilities_of(target, track, declined),
        )
        return Check(
            target,
            rules,
            run,
            budget=config.getoption("aml_time"),
            strict=config.getoption("aml_strict"),
            directory=self.directory,
            run_id=self.run_id,
        )

    def _make_target(self) -> Target:
        given = {
            name: self._config.getoption(f"aml_{name}")
            for name in (
                "url",
                "add_url",
                "search_url",
                "health_url",
                "cmd",
                "app",
                "system",
                "auth",
                "key_env",
                "concurrency",
                "restart_cmd",
                "fault_cmd",
                "heal_cmd",
            )
        }
        return Target.keyed_by_environment(**given)

    def _take_arguments(self) -> None:
        """Without paths of the user's own, run the contract alone."""
        config = self._config
        if config.args_source is not pytest.Config.ArgsSource.ARGS:
            config.args = []
        else:
            config.args = [arg for arg in config.args if arg not in self._named]

    def _wanted(self) -> list[Rule]:
        names = {arg.partition("::")[2] for arg in self._named}
        if not names or "" in names:
            return self._rules
        return [rule for rule in self._rules if rule.name in names]


class Contract(pytest.Collector):
    """The node that holds one item per rule."""

    def __init__(self, *, suite: Suite, rules: list[Rule], **node: Any) -> None:
        super().__init__(**node)
        self._suite = suite
        self._rules = rules

    def collect(self) -> Iterator[RuleItem]:
        """One item per rule."""
        for rule in self._rules:
            yield RuleItem.from_parent(self, name=rule.name, suite=self._suite, rule=rule)


class RuleItem(pytest.Item):
    """One rule."""

    def __init__(self, *, suite: Suite, rule: Rule, **node: Any) -> None:
        super().__init__(**node)
        self._suite = suite
        self._result: RuleResult | None = None
        self.rule = rule
        self.add_marker(getattr(pytest.mark, f"aml_{rule.level.lower()}"))
        self.add_marker(pytest.mark.xdist_group(PREFIX))
        self.user_properties += [
            ("aml_rule", rule.name),
            ("aml_level", rule.level.value),
            ("aml_clause", ", ".join(rule.clauses)),
        ]

    def setup(self) -> None:
        """Wait for the result.

        Raises:
            KitError: the kit broke: an error, where a violation is a failure.
        """
        self._result = result = self._suite.result(self)
        self.user_properties.append(("aml_outcome", result.outcome.value))
        if result.outcome is Outcome.KIT_ERROR:
            raise KitError(result.message, pytrace=False)
        if result.outcome in (Outcome.NOT_APPLICABLE, Outcome.NOT_TESTED):
            words = result.outcome.replace("_", " ")
            raise pytest.skip.Exception(f"{words}: {result.message}", _use_item_location=True)

    def runtest(self) -> None:
        """Turn the result into pytest's terms.

        Raises:
            ContractViolation: the rule failed.
        """
        result = self._result
        assert result is not None
        if result.outcome is Outcome.FAILED:
            raise ContractViolation(self._suite.finding(result), pytrace=False)
        if result.outcome is Outcome.WARNED:
            self._warn(result)

    def reportinfo(self) -> tuple[Path, int, str]:
        """Where failures and skips are said to be."""
        return self.config.rootpath / PREFIX, 0, self.name

    def _warn(self, result: RuleResult) -> None:
        # Past the warning filters: -W error must not turn a risk into a failure.
        self.ihook.pytest_warning_recorded.call_historic(
            kwargs={
                "warning_message": warnings.WarningMessage(
                    ContractWarning(f"{result.rule}: {result.message}"),
                    ContractWarning,
                    PREFIX,
                    0,
                ),
                "nodeid": self.nodeid,
                "when": "runtest",
                "location": None,
            }
        )


def _summary(report: Report) -> Iterator[str]:
    yield f"{report.verdict}: {verdict_sentence(report)}"
    for reason, rules in missing(report).items():
        yield f"  not tested: {some(rules)}: {reason}"
    yield from totals(report).splitlines()
