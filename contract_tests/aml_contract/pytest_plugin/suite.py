"""The contract as a pytest suite: what is collected, the header, the verdict.

The check starts in a thread when the first item is due, with the rules that selection
left over; each item waits for its own result. Under xdist all items go to one worker.
"""

from __future__ import annotations

from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest

from aml_contract.checking.check import RUNS
from aml_contract.checking.selection import UnknownRuleError, select
from aml_contract.config import ConfigError, Resolved, resolve
from aml_contract.config.settings import SETTINGS
from aml_contract.endpoint.target import TargetError
from aml_contract.pytest_plugin import summary
from aml_contract.pytest_plugin.items import CHECK, PREFIX, Contract
from aml_contract.pytest_plugin.running import UNREACHABLE, Running, Waiting
from aml_contract.pytest_plugin.shared_check import SharedCheck
from aml_contract.pytest_plugin.words import as_options
from aml_contract.rule import Rule, all_rules
from aml_contract.run import new_run_id


def register(config: pytest.Config) -> None:
    """Make the contract part of this session.

    Raises:
        pytest.UsageError: the options make no sense.
    """
    for plugin in (Suite(config), Running(config), Waiting()):
        name = f"aml_contract_{type(plugin).__name__.lower()}"
        config.pluginmanager.register(plugin, name)


class Suite:
    """Collects the rules, makes the check, prints the verdict."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._unwritten: list[str] = []
        """What kept reports from being written."""
        self._named = [arg for arg in config.args if arg.split("::")[0] == PREFIX]
        self._take_arguments()
        try:
            self._settings = self._resolve()
            self._rules = select(all_rules(), self._settings["only"], quick=self._settings["quick"])
        except (ConfigError, UnknownRuleError) as error:
            raise _usage(error) from error
        for family in sorted({rule.family for rule in all_rules()}):
            config.addinivalue_line("markers", f"aml_{family}: a rule of the family {family}")

    # -- collection ------------------------------------------------------------------

    @pytest.hookimpl(wrapper=True)
    def pytest_make_collect_report(
        self, collector: pytest.Collector
    ) -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
        """Put the contract after whatever else the session collects."""
        report = yield
        if isinstance(collector, pytest.Session) and report.passed:
            contract = Contract.from_parent(
                collector, name=PREFIX, nodeid=PREFIX, rules=self._wanted()
            )
            report.result = [*(report.result or []), contract]
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
        check = self._config.stash[CHECK]
        node.workerinput |= {"aml_run_id": check.run_id, "aml_seed": check.seed}

    # -- the session -----------------------------------------------------------------

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionstart(self) -> None:
        """Make the check, unless the session only lists what there is.

        Raises:
            pytest.UsageError: no endpoint was named, or none that makes sense.
        """
        if self._config.option.collectonly:
            return
        shared = getattr(self._config, "workerinput", {})
        run_id = shared.get("aml_run_id") or new_run_id()
        try:
            self._config.stash[CHECK] = SharedCheck(
                self._settings,
                run_id=run_id,
                seed=shared.get("aml_seed"),
                directory=self._config.invocation_params.dir / RUNS / run_id,
            )
        except TargetError as error:
            raise _usage(error) from error

    def pytest_report_header(self) -> list[str]:
        """Each value that is no default, and where it came from; never a key."""
        check = self._check
        if check is None:
            return []
        clean = check.target.credentials.redact
        values = [
            f"  {each.setting.name}: {clean(each.shown)} ({each.origin})"
            for each in self._settings.given
        ]
        remarks = [f"  {remark}" for remark in self._settings.remarks]
        return [f"aml-contract: seed {check.seed}", *values, *remarks]

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """End the check with the session, after -x or Ctrl-C it may still run; write reports."""
        check = self._check
        if check is None:
            return
        check.stop()
        report = check.report()
        if report is not None and not hasattr(self._config, "workerinput"):
            self._unwritten = summary.write(check, report)
            if self._unwritten and session.exitstatus == pytest.ExitCode.OK:
                session.exitstatus = pytest.ExitCode.INTERNAL_ERROR

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Print the verdict and what is missing."""
        if words := self._config.stash.get(UNREACHABLE, None):
            terminalreporter.section("contract: nothing answers")
            terminalreporter.line(as_options(words))
            return
        check = self._check
        report = check.report() if check is not None else None
        if check is not None and report is not None:
            terminalreporter.section(summary.heading(report))
            files = self._unwritten or summary.places(check)
            for line in (*summary.lines(check, report), *files):
                terminalreporter.line(line)

    @property
    def _check(self) -> SharedCheck | None:
        return self._config.stash.get(CHECK, None)

    def _resolve(self) -> Resolved:
        option = self._config.getoption
        given = {setting.name: option(f"aml_{setting.name}") for setting in SETTINGS}
        named = option("aml_config")
        return resolve(
            given,
            config=Path(named) if named else None,
            directory=self._config.invocation_params.dir,
            flag_prefix="--aml-",
        )

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


def _usage(error: Exception) -> pytest.UsageError:
    return pytest.UsageError(f"aml-contract: {as_options(str(error))}")
