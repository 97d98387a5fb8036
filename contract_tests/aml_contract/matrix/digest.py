"""What decides a cell, in a few letters: another digest, and it must be made again."""

from __future__ import annotations

import functools
import hashlib
import json
from dataclasses import asdict
from pathlib import Path

import aml_contract
from aml_contract.matrix.entry import Entry

_APART = frozenset({"config", "matrix", "pytest_plugin", "report", "smoke"})
"""Packages that show results or find settings; they decide none."""
_KINDS = frozenset({".json", ".py"})


@functools.cache
def kit_digest() -> str:
    """Of everything in the kit that a rule's outcome depends on."""
    root = Path(aml_contract.__file__).parent
    made = hashlib.sha256()
    for path in sorted(root.rglob("*")):
        name = path.relative_to(root)
        if path.suffix in _KINDS and name.parts[0] not in _APART:
            made.update(name.as_posix().encode() + b"\0" + path.read_bytes() + b"\0")
    return made.hexdigest()[:12]


def cell_digest(entry: Entry, fuzz_budget: float) -> str:
    """Of the kit, the server's code, and how it is judged.

    Its command is left out, which names the interpreter and differs between machines; and
    what is hoped to be found, which changes no outcome.
    """
    settings = asdict(entry)
    for name in ("cmd", "expected", "sometimes", "kills", "risks"):
        del settings[name]
    decisive = json.dumps([kit_digest(), settings, fuzz_budget], sort_keys=True)
    return hashlib.sha256(decisive.encode()).hexdigest()[:12]
