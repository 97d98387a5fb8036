"""From a name on the command line to a memory system."""

from __future__ import annotations

import inspect
import sys
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path

from aml_sdk.errors import Misconfigured
from aml_sdk.system import MemorySystem

GROUP = "aml.systems"
"""The entry-point group in which memories register under a short name."""


def registered() -> list[str]:
    """The short names that are installed."""
    return sorted({entry.name for entry in entry_points(group=GROUP)})


def find_system(name: str) -> type[MemorySystem]:
    """The class that ``hybrid`` or ``package.module:Class`` stands for.

    A ``package.module`` is looked for in the current directory too.

    Raises:
        Misconfigured: nothing of that name, or it cannot be imported, or it is no system.
    """
    entry = None if ":" in name else _entry(name)
    target = name if entry is None else entry.value
    module_name, _, class_name = target.partition(":")
    if entry is None and str(Path.cwd()) not in sys.path:
        sys.path.insert(0, str(Path.cwd()))
    try:
        found = import_module(module_name)
    except ModuleNotFoundError as error:
        raise Misconfigured(_missing(module_name, entry, error)) from error
    except Exception as error:
        words = f"{type(error).__name__}: {error}"
        raise Misconfigured(f"importing {module_name} failed: {words}") from error
    for step in class_name.split("."):
        if not hasattr(found, step):
            raise Misconfigured(f"{module_name} has no {class_name}")
        found = getattr(found, step)
    if not (inspect.isclass(found) and issubclass(found, MemorySystem)):
        raise Misconfigured(f"{target} is no subclass of aml_sdk.MemorySystem")
    if inspect.isabstract(found):
        lacking = ", ".join(sorted(found.__abstractmethods__))
        raise Misconfigured(f"{target} does not implement {lacking}")
    return found


def make_system(system: type[MemorySystem], data_dir: Path) -> MemorySystem:
    """An instance; given ``data_dir`` if its constructor takes it.

    Raises:
        Misconfigured: its constructor asks for what nobody gives it.
        DataDirectoryBusy: another process owns the directory.
    """
    parameters = inspect.signature(system).parameters.values()
    asked = [each.name for each in parameters if _is_required(each) and each.name != "data_dir"]
    if asked:
        raise Misconfigured(
            f"the constructor of {system.__name__} asks for {', '.join(asked)}; it is given "
            "data_dir or nothing: give the others defaults, or make a subclass that knows them"
        )
    takes_data_dir = any(each.name == "data_dir" for each in parameters)
    # A MemorySystem's own constructor takes nothing; that this one takes data_dir was looked up.
    return system(data_dir=data_dir) if takes_data_dir else system()  # type: ignore[call-arg]


def _is_required(parameter: inspect.Parameter) -> bool:
    several = parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD)
    return parameter.default is parameter.empty and not several


def _entry(name: str) -> EntryPoint:
    for entry in entry_points(group=GROUP, name=name):
        return entry
    names = ", ".join(registered()) or "none"
    raise Misconfigured(f"no memory is named {name!r}; known: {names}, or give pkg.mod:Class")


def _missing(module_name: str, entry: EntryPoint | None, error: ModuleNotFoundError) -> str:
    """What is not installed: the module that was named, or one that it needs."""
    if error.name and f"{module_name}.".startswith(f"{error.name}."):
        return f"there is no module {error.name} here or among the installed packages"
    needs = f"{module_name} needs the module {error.name}, which is not installed"
    if entry is None or entry.dist is None:
        return needs
    extras = entry.dist.metadata.get_all("Provides-Extra") or []
    hint = f": pip install '{entry.dist.name}[{entry.name}]'" if entry.name in extras else ""
    return needs + hint
