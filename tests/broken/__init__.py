"""Servers that are wrong in one way each, and the correct one that they vary.

``python -m tests.broken NAME --port P --data DIR`` starts one as users start theirs;
``python -m tests.broken --list`` names them all and the rules that each must fail.
"""

from __future__ import annotations

import importlib
import pkgutil

from tests.broken.correct import Correct, variations


def servers() -> dict[str, type[Correct]]:
    """The correct server and every variation, by name."""
    for module in pkgutil.iter_modules(__path__):
        # `serving` holds none, and imports the kit, which would double what a start takes.
        if not module.name.startswith(("_", "test_", "conftest", "serving")):
            importlib.import_module(f"{__name__}.{module.name}")
    return {"Correct": Correct, **variations}
