"""A rule: data about one promise of the contract, and the function that tries it.

Rules are declared with the decorator :func:`rule`, one family per module under
``aml_contract.rules``. Everything that shows rules (``aml explain``, reports, docs,
coverage) reads the registry that the decorator fills.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from aml_contract.outcome import Level

if TYPE_CHECKING:
    from aml_contract.trial import Trial

Check = Callable[["Trial"], Awaitable[None]]


class Need(StrEnum):
    """What a rule cannot be tried without.

    Missing, its outcome is *not tested*; without a fault, *not applicable* (decision 12).
    """

    RESTART = "restart"
    """A process the kit may kill and start again (``--cmd``, ``--app``, ``--system``)
    or an operator's ``--restart-cmd``."""
    KILL = "kill"
    """A process the kit may ``kill -9`` itself, at a moment of its choosing."""
    FAULT = "fault"
    """An operator's commands that break and heal what the endpoint depends on
    (``--fault-cmd`` with ``--heal-cmd``)."""


class Capability(StrEnum):
    """What an endpoint may decline with ``--without``, visibly lowering the bar."""

    VERBATIM = "verbatim"
    """Stored text comes back as it was sent (off for systems that rewrite)."""
    IMAGES = "images"
    DEFERRED_ADD = "deferred_add"
    AUTH = "auth"
    """Not declinable: present when a key scheme was given (``--auth``)."""


@dataclass(frozen=True)
class Cost:
    """The requests a rule sends at most on a healthy endpoint; what ``--plan`` adds up."""

    adds: int = 0
    searches: int = 0
    others: int = 0

    def __add__(self, other: Cost) -> Cost:
        return Cost(
            self.adds + other.adds, self.searches + other.searches, self.others + other.others
        )


@dataclass(frozen=True)
class Rule:
    """One promise of the contract and how it is tried.

    ``clauses`` are numbers of the wire contract (``A11``), ``modes`` rows of the
    failure modes (``24``), ``peers`` rows of the peer checks (``P16``): they make
    the coverage table.
    """

    name: str
    level: Level
    clauses: tuple[str, ...]
    title: str
    """One sentence that says what a conforming endpoint does."""
    why: str
    fix: str
    check: Check
    cost: Cost
    needs: frozenset[Need] = frozenset()
    capabilities: frozenset[Capability] = frozenset()
    modes: tuple[int, ...] = ()
    peers: tuple[str, ...] = ()
    cases: tuple[str, ...] = ()
    transport: str = "http"
    """``http`` (ordinary exchanges) or ``raw`` (bytes over a socket)."""
    exclusive: bool = False
    """Runs alone, after all others: it stops the endpoint or needs it quiet."""
    last: bool = False
    """Judges what the whole run saw, after all others."""
    quick: bool = True
    """Part of ``--quick``."""
    waits: bool = False
    """It waits for a clock: it starts before all others, which use that time."""

    @property
    def family(self) -> str:
        """The part of the name before the slash."""
        return self.name.partition("/")[0]


_registry: dict[str, Rule] = {}


def rule(  # noqa: PLR0913  the fields of a rule
    name: str,
    *,
    level: Level,
    clauses: tuple[str, ...],
    title: str,
    why: str,
    fix: str,
    cost: Cost,
    needs: frozenset[Need] | set[Need] = frozenset(),
    capabilities: frozenset[Capability] | set[Capability] = frozenset(),
    modes: tuple[int, ...] = (),
    peers: tuple[str, ...] = (),
    cases: tuple[str, ...] = (),
    transport: str = "http",
    exclusive: bool = False,
    last: bool = False,
    quick: bool = True,
    waits: bool = False,
) -> Callable[[Check], Rule]:
    """Register the decorated coroutine function as a rule; see :class:`Rule`."""

    def register(check: Check) -> Rule:
        if name in _registry:
            raise ValueError(f"two rules are named {name}")
        made = Rule(
            name=name,
            level=level,
            clauses=clauses,
            title=title,
            why=why,
            fix=fix,
            check=check,
            cost=cost,
            needs=frozenset(needs),
            capabilities=frozenset(capabilities),
            modes=modes,
            peers=peers,
            cases=cases,
            transport=transport,
            exclusive=exclusive,
            last=last,
            quick=quick,
            waits=waits,
        )
        _registry[name] = made
        return made

    return register


def all_rules() -> tuple[Rule, ...]:
    """Every rule of the kit, in the order of families and names."""
    package = importlib.import_module("aml_contract.rules")
    for module in pkgutil.iter_modules(package.__path__):
        importlib.import_module(f"aml_contract.rules.{module.name}")
    return tuple(_registry[name] for name in sorted(_registry))
