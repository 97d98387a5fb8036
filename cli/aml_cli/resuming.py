"""Going on with a run that was stopped or killed (``aml check --resume``)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aml_cli.running import usage_error

if TYPE_CHECKING:
    from aml_contract.checking.resumption import Resumption
    from aml_contract.config import Resolved

_OWN = frozenset({"time", "show_replies", "require_all"})
"""Settings that each part of a run has for itself, beside the files of reports."""


def earlier_run(settings: Resolved, named: str | None) -> tuple[Resumption, Resolved]:
    """The run to go on with, and its settings where no flag says otherwise.

    Args:
        settings: what this command was given.
        named: the run's name or directory; the latest if not given.

    Raises:
        typer.Exit: with code 2, the reason printed, if there is no such run.
    """
    from aml_contract.checking.check import RUNS
    from aml_contract.checking.resumption import CannotResume, Resumption, find_run
    from aml_contract.config import REPORT_FILES, ConfigError, Resolved

    try:
        earlier = Resumption.of(find_run(named or "latest", RUNS))
        recorded = settings.recorded(earlier.words(), f"run {earlier.name}")
    except (CannotResume, ConfigError) as error:
        usage_error(str(error))
    own = {name: settings.by_name[name] for name in (*_OWN, *REPORT_FILES)}
    return earlier, Resolved({**recorded.by_name, **own})


def taken_over(earlier: Resumption, kept: int, left: int) -> str:
    """What is taken over from an earlier run, as a sentence."""
    how = f"was {earlier.report.stopped}" if earlier.report.stopped else "left some untested"
    results = "1 result is" if kept == 1 else f"{kept} results are"
    return f"Run {earlier.name} {how} and goes on: {results} taken over, {left} rules are left."
