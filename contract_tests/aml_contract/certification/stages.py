"""The stages of a certification, by name and in order."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from importlib import import_module
from typing import cast

from aml_contract.certification.stage import ORDER, Stage


def _found(name: str) -> Stage | None:
    """The stage that ``aml_contract.certification.<name>`` exports; ``None`` if it is not there."""
    home = f"aml_contract.certification.{name}"
    try:
        module = import_module(home)
    except ModuleNotFoundError as error:
        if error.name != home:
            raise
        return None
    for exported in vars(module).values():
        if inspect.isclass(exported) and getattr(exported, "name", None) == name:
            return cast("Stage", exported())
    return None


STAGES: Mapping[str, Stage] = {name: stage for name in ORDER if (stage := _found(name))}
"""Those that there are. A certification without all of them is INCOMPLETE."""
