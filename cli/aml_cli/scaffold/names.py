"""What a new project is called: by pip, by Python, and on disk."""

from __future__ import annotations

import keyword
import re
import sys
from dataclasses import dataclass
from pathlib import Path

_PROJECT = re.compile(r"[A-Za-z]([A-Za-z0-9._-]*[A-Za-z0-9])?")
_TAKEN = frozenset({"tests", "aml", "aml_sdk", "aml_adapters", "aml_contract", "aml_servers"})
"""Modules that the new project imports, or that hold something else in it."""
_CLASSES_OF_SDK = frozenset({"Memory", "MemorySystem", "AddRequest", "SearchRequest"})


class NameRefusedError(ValueError):
    """The name cannot be used; the message says why and what could be."""


@dataclass(frozen=True)
class Names:
    """The names that follow from the one that was given."""

    project: str
    """For pip: ``my-memory``."""
    package: str
    """For ``import``: ``my_memory``."""
    class_name: str
    """For the memory system: ``MyMemory``."""

    @property
    def system(self) -> str:
        """What ``aml serve`` and ``aml check --system`` take: ``my_memory:MyMemory``."""
        return f"{self.package}:{self.class_name}"


def names_for(given: str) -> Names:
    """The names of a project that is called so.

    Raises:
        NameRefusedError: pip or Python could not use them.
    """
    if "/" in given or "\\" in given:
        place = Path(given)
        raise NameRefusedError(
            f"{given!r} is a path. Give the name alone and the place with --into: "
            f"aml new {place.name or 'my-memory'} --into {given}"
        )
    if not given.isascii():
        raise NameRefusedError(
            f"pip takes only the letters A to Z in a name, and {given!r} has others. The "
            f"directory may be called anything: aml new my-memory --into {given}"
        )
    if not _PROJECT.fullmatch(given):
        raise NameRefusedError(
            f"{given!r} is no name for pip: letters, digits, '-', '_' and '.', the first "
            "a letter and the last no sign; for example my-memory"
        )
    parts = [part.lower() for part in re.split(r"[-_.]+", given)]
    package = "_".join(parts)
    if keyword.iskeyword(package):
        raise NameRefusedError(f"{package!r} is a word of Python; {package}-memory is not")
    if package in sys.stdlib_module_names or package in _TAKEN:
        raise NameRefusedError(
            f"another module is called {package!r} and would be hidden; {package}-memory is free"
        )
    class_name = "".join(part.capitalize() for part in parts)
    if class_name in _CLASSES_OF_SDK:
        class_name = f"My{class_name}"
    return Names("-".join(parts), package, class_name)
