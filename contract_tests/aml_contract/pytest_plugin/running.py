"""How the items run among a project's own tests and plugins."""

from __future__ import annotations

import contextlib
from collections.abc import Generator

import pytest
from _pytest.runner import runtestprotocol  # what plugins that run items themselves call

from aml_contract.pytest_plugin.items import EndpointUnreachable, RuleItem

UNREACHABLE = pytest.StashKey[str]()
"""Where a session's configuration holds what to do about an endpoint that does not answer."""


class Waiting:
    """Waits for an item's result outside of all that surrounds its run.

    A limit that pytest-timeout puts on tests is no limit on the check: the first item waits
    for what all of them sent.
    """

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Generator[None, object, object]:
        """Wait, and leave what comes of it to the item's setup."""
        if isinstance(item, RuleItem) and not item.config.getoption("setuponly", default=False):
            with contextlib.suppress(Exception):
                _ = item.result
        return (yield)


class Running:
    """Runs each item once, and gives its report what the rule took and found."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item, nextitem: pytest.Item | None) -> object:
        """Run it once: pytest-rerunfailures would only be told the same again."""
        if not isinstance(item, RuleItem):
            return None
        item.ihook.pytest_runtest_logstart(nodeid=item.nodeid, location=item.location)
        runtestprotocol(item, nextitem=nextitem)
        item.ihook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)
        return True

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(
        self, item: pytest.Item, call: pytest.CallInfo[None]
    ) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        """Put the rule's own seconds in place of those that pytest saw; mark the one error."""
        report = yield
        if isinstance(item, RuleItem):
            if call.when == "call" and "result" in vars(item):
                report.duration = item.result.seconds
            if call.excinfo and isinstance(call.excinfo.value, EndpointUnreachable):
                vars(report)["aml_unreachable"] = str(call.excinfo.value)
        return report

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """End the session where nothing answers, before that is counted against a rule.

        A worker of xdist cannot end it: there the report reaches the controller.
        """
        words = getattr(report, "aml_unreachable", None)
        if words and not hasattr(self._config, "workerinput"):
            self._config.stash[UNREACHABLE] = words
            short = "aml-contract: nothing answers; no rule was tried"
            pytest.exit(short, returncode=pytest.ExitCode.USAGE_ERROR)
