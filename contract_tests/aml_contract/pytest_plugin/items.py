"""The items: one for each rule, and how a result reads in pytest's terms."""

from __future__ import annotations

import traceback
import warnings
from collections.abc import Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import pytest

from aml_contract.checking.result import RuleResult
from aml_contract.endpoint.http import Unreachable
from aml_contract.outcome import Level, Outcome
from aml_contract.pytest_plugin.shared_check import SharedCheck
from aml_contract.pytest_plugin.words import as_options
from aml_contract.report.wording import NAMES
from aml_contract.rule import Rule

PREFIX = "aml_contract"
"""First part of every node id: ``aml_contract::isolation/case-twins``."""
CHECK = pytest.StashKey[SharedCheck]()
"""Where a session's configuration holds the check."""


class ContractWarning(UserWarning):
    """A rule found a risk that fails nothing."""


class ShownByMessage(pytest.fail.Exception):  # type: ignore[misc,name-defined]  # no class to mypy
    """pytest shows it without a traceback: one through the kit would tell a builder nothing."""


class ContractViolation(ShownByMessage):
    """A rule failed."""

    __module__ = "builtins"  # as pytest's own: the short summary then has room for words


class RuleNotTested(ShownByMessage):
    """A MUST rule could not be tried, and ``--aml-require-all`` wants it tried."""

    __module__ = "builtins"


class KitError(ShownByMessage):
    """The kit broke; says nothing about the endpoint."""

    __module__ = "builtins"


class EndpointUnreachable(ShownByMessage):
    """Nothing answers; ends the session before any rule is reported."""

    __module__ = "builtins"


class Contract(pytest.Collector):
    """The node that holds one item per rule."""

    def __init__(self, *, rules: Sequence[Rule], **node: Any) -> None:
        super().__init__(**node)
        self._rules = rules

    def collect(self) -> Iterator[RuleItem]:
        """One item per rule."""
        for rule in self._rules:
            yield RuleItem.from_parent(self, name=rule.name, rule=rule)


class RuleItem(pytest.Item):
    """One rule. The work is done elsewhere; the item waits for the result and reports it."""

    def __init__(self, *, rule: Rule, **node: Any) -> None:
        super().__init__(**node)
        self.rule = rule
        for mark in (rule.level.lower(), rule.family):
            self.add_marker(getattr(pytest.mark, f"aml_{mark}"))
        if self.config.pluginmanager.hasplugin("xdist"):  # else pytest warns of an unknown mark
            self.add_marker(pytest.mark.xdist_group(PREFIX))
        self.user_properties += [
            ("aml_rule", rule.name),
            ("aml_level", rule.level.value),
            ("aml_clause", ", ".join(rule.clauses)),
        ]

    @cached_property
    def result(self) -> RuleResult:
        """The rule's result, once it is there; what all selected items wait for starts here.

        Raises:
            Unreachable: nothing answers.
            Exception: whatever ended the check before the rule came to its result.
        """
        check = self.config.stash[CHECK]
        check.start([one.rule for one in self.session.items if isinstance(one, RuleItem)])
        return check.result(self.rule)

    def setup(self) -> None:
        """Wait for the result.

        Raises:
            EndpointUnreachable: nothing answers.
            KitError: the kit broke: an error, where a violation is a failure.
            RuleNotTested: it could not be tried, which was not to be.
        """
        if self.config.getoption("setuponly", default=False):
            return
        try:
            result = self.result
        except Unreachable as error:
            raise EndpointUnreachable(str(error), pytrace=False) from None
        except Exception as error:  # noqa: BLE001  whatever ended the check is the kit's own
            self._show_where("".join(traceback.format_exception(error)))
            words = f"the kit broke, not the endpoint: {type(error).__name__}: {error}"
            raise KitError(words, pytrace=False) from None
        self.user_properties.append(("aml_outcome", result.outcome.value))
        if result.outcome is Outcome.KIT_ERROR:
            self._show_where(self.config.stash[CHECK].traceback(self.rule))
            raise KitError(result.message, pytrace=False)
        if result.outcome in (Outcome.NOT_APPLICABLE, Outcome.NOT_TESTED):
            words = as_options(f"{NAMES[result.outcome]}: {result.message}")
            if self._has_to_be_tested(result):
                raise RuleNotTested(words, pytrace=False)
            raise pytest.skip.Exception(words, _use_item_location=True)

    def runtest(self) -> None:
        """Turn the result into pytest's terms.

        Raises:
            ContractViolation: the rule failed.
        """
        if self.result.outcome is Outcome.FAILED:
            words = self.config.stash[CHECK].finding(self.rule, self.result)
            raise ContractViolation(words, pytrace=False)
        if self.result.outcome is Outcome.WARNED:
            self._warn(f"{self.rule.name}: {self.result.message}")

    def reportinfo(self) -> tuple[Path, int, str]:
        """Where failures and skips are said to be."""
        return self.config.rootpath / PREFIX, 0, self.name

    def _has_to_be_tested(self, result: RuleResult) -> bool:
        required: bool = self.config.stash[CHECK].settings["require_all"]
        return required and result.level is Level.MUST and result.outcome is Outcome.NOT_TESTED

    def _show_where(self, text: str) -> None:
        self.add_report_section("setup", "by the kit", text)

    def _warn(self, text: str) -> None:
        # Past the warning filters: -W error must not turn a risk into a failure.
        self.ihook.pytest_warning_recorded.call_historic(
            kwargs={
                "warning_message": warnings.WarningMessage(
                    ContractWarning(text), ContractWarning, PREFIX, 0
                ),
                "nodeid": self.nodeid,
                "when": "runtest",
                "location": None,
            }
        )
