"""A collection of servers, found by the name of the function that returns it."""

from __future__ import annotations

import difflib
import importlib
import sys
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path

from aml_contract.matrix.entry import Entry
from aml_contract.matrix.plan import PlanError


def load_collection(name: str) -> list[Entry]:
    """The entries of ``module:function``, found from the working directory as well.

    Raises:
        PlanError: there is none of that name, or it returns something else.
    """
    module_name, colon, function_name = name.partition(":")
    if not colon or not function_name:
        raise PlanError(f"a collection is written module:function, not {name!r}")
    here = str(Path.cwd())
    if here not in sys.path:
        sys.path.insert(0, here)
    try:
        module = importlib.import_module(module_name)
    except ModuleNotFoundError as error:
        if error.name is None or not f"{module_name}.".startswith(f"{error.name}."):
            raise
        raise PlanError(
            f"there is no module {module_name}, neither installed nor beneath the working "
            "directory: run this in a clone of the project, which has tests.collection, or "
            "name servers of your own with --collection MODULE:FUNCTION"
        ) from error
    function = getattr(module, function_name, None)
    if not callable(function):
        raise PlanError(f"{module_name} has no function {function_name}")
    entries = list(function())
    if not all(isinstance(entry, Entry) for entry in entries):
        raise PlanError(f"{name} returns something else than entries of a matrix")
    twice = [one for one, count in Counter(e.name for e in entries).items() if count > 1]
    if twice:
        raise PlanError(f"{name} has two servers named {twice[0]}")
    return entries


def chosen(entries: Sequence[Entry], only: Iterable[str]) -> list[Entry]:
    """Those named in ``only``; all if nothing is.

    Raises:
        PlanError: one of the names is no server's.
    """
    known = {entry.name: entry for entry in entries}
    wanted = list(only)
    for name in wanted:
        if name not in known:
            close = difflib.get_close_matches(name, sorted(known), n=3, cutoff=0.5)
            hint = f"; did you mean {' or '.join(close)}?" if close else ""
            raise PlanError(f"the collection has no server {name!r}{hint}")
    return [entry for entry in entries if not wanted or entry.name in wanted]
