"""Reproduction: the findings of an earlier run, tried again."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

from aml_contract.checking.document import Report, report_of
from aml_contract.checking.events import read_events
from aml_contract.checking.result import RuleResult
from aml_contract.outcome import Outcome
from aml_contract.rule import Check, Rule
from aml_contract.trial import Trial


class NoReportError(ValueError):
    """The file holds no report and no events; the message says what was found."""


def read_report(path: Path) -> Report:
    """The report of a JSON file, of an ``events.jsonl``, or of a run's directory.

    Raises:
        NoReportError: it is none of these.
    """
    file = path / "events.jsonl" if path.is_dir() else path
    try:
        if file.suffix == ".jsonl":
            return report_of(read_events(file))
        return Report.model_validate(json.loads(file.read_text("utf-8")))
    except OSError as error:
        raise NoReportError(f"{file} cannot be read: {error.strerror}") from error
    except ValueError as error:
        raise NoReportError(f"{file} is no report and holds no events of a run") from error


def findings(report: Report, only: Iterable[str] = ()) -> list[RuleResult]:
    """The results that failed or warned; ``only`` names rules or families."""
    wanted = set(only)
    return [
        result
        for result in report.rules
        if result.outcome in (Outcome.FAILED, Outcome.WARNED)
        and (not wanted or wanted & {result.rule, result.family})
    ]


def rules_again(results: Iterable[RuleResult], rules: Iterable[Rule]) -> list[Rule]:
    """The rules that try these findings again.

    A generated finding is tried by its own steps, with fresh ids; any other by its rule,
    which takes the same course under the same seed. Rules that are not known are left out.
    """
    known = {rule.name: rule for rule in rules}
    return [
        replace(known[result.rule], check=_by_steps(result.repeat))
        if result.repeat
        else known[result.rule]
        for result in results
        if result.rule in known
    ]


def flags_of(report: Report) -> dict[str, str]:
    """What the run's endpoint was named by, by the names of the settings."""
    flags = report.endpoint.flags
    pairs = zip(flags[::2], flags[1::2], strict=True)
    return {flag.removeprefix("--").replace("-", "_"): value for flag, value in pairs}


def _by_steps(steps: dict[str, Any]) -> Check:
    async def check(trial: Trial) -> None:
        from aml_contract.fuzz.again import again  # noqa: PLC0415  needs an extra

        await again(trial, steps)

    return check
