"""What decides a cell, in a few letters: another digest, and it must be made again."""

from __future__ import annotations

import functools
import hashlib
import inspect
import json
from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path

import aml_contract
from aml_contract.matrix.entry import Entry
from aml_contract.rule import Rule

_APART = frozenset(
    {
        "certification",
        "comparison",
        "config",
        "configured.py",
        "matrix",
        "probe",
        "pytest_plugin",
        "report",
        "smoke",
    }
)
"""What shows results or finds settings; it decides none."""
_KINDS = frozenset({".json", ".py"})


_ROOT = Path(aml_contract.__file__).parent
_RULES = _ROOT / "rules"


@functools.cache
def kit_digest() -> str:
    """Of everything in the kit that an outcome depends on, all rules included."""
    return _digest(_deciding())


def cell_digest(entry: Entry, fuzz_budget: float, rule: Rule) -> str:
    """Of the rule's module and what all rules stand on, the server's code, and how it is judged.

    Another rule's module changes nothing: no rule imports a rule. Left out are the server's
    command, which names the interpreter and differs between machines; and what is hoped to
    be found, which changes no outcome.
    """
    settings = asdict(entry)
    for name in ("cmd", "expected", "sometimes", "kills", "risks"):
        del settings[name]
    module = Path(inspect.getfile(rule.check))
    code = [_common_digest(), _module_digest(module)]
    decisive = json.dumps([code, settings, fuzz_budget], sort_keys=True)
    return hashlib.sha256(decisive.encode()).hexdigest()[:12]


@functools.cache
def _common_digest() -> str:
    return _digest(path for path in _deciding() if not path.is_relative_to(_RULES))


@functools.cache
def _module_digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()[:12]


def _deciding() -> Iterable[Path]:
    for path in sorted(_ROOT.rglob("*")):
        if path.suffix in _KINDS and path.relative_to(_ROOT).parts[0] not in _APART:
            yield path


def _digest(paths: Iterable[Path]) -> str:
    made = hashlib.sha256()
    for path in paths:
        name = path.relative_to(_ROOT).as_posix()
        made.update(name.encode() + b"\0" + path.read_bytes() + b"\0")
    return made.hexdigest()[:12]
