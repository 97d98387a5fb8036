"""What a certification takes from an endpoint's file, and what it decides itself."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from aml_contract.certification.declaration import Declaration
from aml_contract.config import Resolved, resolve
from aml_contract.config.resolve import DEFAULT, Value
from aml_contract.endpoint.target import Target

_TAKEN = frozenset({"endpoint", "capabilities", "hooks"})
"""Sections whose settings hold."""
_LIMITS = frozenset({"concurrency", "add_concurrency", "search_concurrency", "timeout", "seed"})
"""Settings of other sections that do. Which rules are tried, how long requests are generated
and what is kept of answers is the same in every certification."""

_COMMANDS = frozenset({"--restart-cmd", "--fault-cmd", "--heal-cmd"})


def settings_of(config: Path, declaration: Declaration) -> Resolved:
    """The settings of a certification; where they name no track, it is the declared one.

    Raises:
        ConfigError: a value or a name in the file is wrong; the message says where.
    """
    found = resolve({}, config=config)
    by_name = {
        name: each if _holds(each) else Value(each.setting, each.setting.default)
        for name, each in found.by_name.items()
    }
    track = by_name["track"]
    if track.origin == DEFAULT and declaration.track:
        where = f"{found.files[0]}: [declaration]"
        by_name["track"] = Value(track.setting, declaration.track, where)
    return replace(found, by_name=by_name)


def at_declared_load(target: Target, declaration: Declaration) -> Target:
    """The target at the concurrency that is declared, and never beyond it (clause L1).

    Ordinary requests, Adds and Searches together, are as many as the smaller number allows.
    """
    adds = declaration.add_concurrency or target.add_concurrency or target.concurrency
    searches = declaration.search_concurrency or target.search_concurrency or target.concurrency
    return replace(
        target,
        concurrency=min(adds, searches),
        add_concurrency=adds,
        search_concurrency=searches,
    )


def without_commands(flags: Sequence[str]) -> list[str]:
    """The options that name a target, an operator's commands left out.

    Reports and certificates are handed around, and commands hold hosts, users and tokens.
    """
    named = zip(flags[::2], flags[1::2], strict=True)
    return [word for name, value in named if name not in _COMMANDS for word in (name, value)]


def _holds(value: Value) -> bool:
    return value.setting.section in _TAKEN or value.setting.name in _LIMITS
