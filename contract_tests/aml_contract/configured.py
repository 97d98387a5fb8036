"""The run and the check that settings describe, for every command that judges by them."""

from __future__ import annotations

import contextlib
import secrets
from collections.abc import Sequence
from pathlib import Path

from aml_contract.checking.check import RUNS, Check, capabilities_of
from aml_contract.checking.resumption import Resumption
from aml_contract.config import Resolved
from aml_contract.endpoint.target import Target
from aml_contract.rule import Capability, Rule
from aml_contract.run import Run


def run_from(settings: Resolved, target: Target, run_id: str, seed: int | None = None) -> Run:
    """A run of these settings.

    Args:
        settings: all sections of the table.
        target: what is judged; its key is among the capabilities.
        run_id: the run's name, which makes its ids and texts its own.
        seed: stronger than that of the settings; random if neither has one.
    """
    seed = settings["seed"] if seed is None else seed
    declined = [Capability(name) for name in settings["without"]]
    return Run(
        seed=secrets.randbelow(2**31) if seed is None else seed,
        salt=run_id,
        capabilities=capabilities_of(target, settings["track"], declined),
        quick=settings["quick"],
        track=settings["track"],
        fuzz_budget=settings["fuzz_budget"],
    )


def check_from(  # noqa: PLR0913  a check has as many parts
    settings: Resolved,
    target: Target,
    rules: Sequence[Rule],
    run: Run,
    *,
    directory: Path,
    resumed: Resumption | None = None,
) -> Check:
    """A check of these settings, under the name of its run.

    Args:
        settings: all sections of the table.
        target: what is judged.
        rules: what it is judged by.
        run: as :func:`run_from` makes it.
        directory: where events and large bodies are kept.
        resumed: the run that goes on, under its own name and in its own directory.

    Raises:
        CannotResume: the run that goes on had another target, other settings or other rules.
        RunUnderWay: it is still going on.
    """
    _keep_out_of_git(directory)
    return Check(
        target,
        rules,
        run,
        budget=settings["time"],
        strict=settings["strict"],
        directory=directory,
        run_id=run.salt,
        origins=settings.origins,
        show_replies=settings["show_replies"],
        resumed=resumed,
    )


def _keep_out_of_git(directory: Path) -> None:
    """Runs hold what an endpoint answered: nobody commits ``.aml`` by accident."""
    root = directory.parent.parent
    if root.name != RUNS.parts[0]:
        return
    with contextlib.suppress(OSError):  # a disk that is full is told of where events are written
        root.mkdir(parents=True, exist_ok=True)
        with (root / ".gitignore").open("x", encoding="utf-8") as file:
            file.write("*\n")
