"""Selection: which rules a run tries, what stands in their way, and what they would send."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from aml_contract.endpoint.target import Target
from aml_contract.outcome import Level, Outcome
from aml_contract.rule import Capability, Cost, Need, Rule

_RESTARTABLE = "needs a server that may be restarted: --cmd, --app, --system or --restart-cmd"
_UNBROKEN = "no way to break what it depends on was given (--fault-cmd with --heal-cmd)"
_KILLABLE = "needs a server that the kit may kill -9: --cmd, --app or --system"


class UnknownRuleError(ValueError):
    """A name given to ``--only`` is no rule and no family; the message names close ones."""


@dataclass(frozen=True)
class Means:
    """What a target offers: the capabilities claimed, and what may be done to it."""

    capabilities: frozenset[Capability]
    can_restart: bool
    can_kill: bool
    can_break: bool

    @classmethod
    def of(cls, target: Target, capabilities: frozenset[Capability]) -> Means:
        """What rules may count on at a target, before it is opened or while it is open."""
        return cls(
            capabilities,
            can_restart=target.managed or bool(target.restart_cmd),
            can_kill=target.managed,
            can_break=bool(target.fault_cmd),
        )

    def obstacle(self, rule: Rule) -> tuple[Outcome, str] | None:
        """Why ``rule`` cannot be tried on such a target; ``None`` if it can."""
        for capability in sorted(rule.capabilities - self.capabilities):
            return Outcome.NOT_APPLICABLE, _absent(capability)
        if Need.KILL in rule.needs and not self.can_kill:
            return Outcome.NOT_TESTED, _KILLABLE
        if Need.RESTART in rule.needs and not self.can_restart:
            return Outcome.NOT_TESTED, _RESTARTABLE
        if Need.FAULT in rule.needs and not self.can_break:
            return Outcome.NOT_APPLICABLE, _UNBROKEN
        return None


def select(rules: Sequence[Rule], only: Iterable[str] = (), *, quick: bool = False) -> list[Rule]:
    """The rules to try.

    Args:
        rules: all there are.
        only: names of families or rules; nothing selects all.
        quick: MUST rules that are cheap, and no others.

    Raises:
        UnknownRuleError: a name in ``only`` matches nothing.
    """
    wanted = list(only)
    names = {rule.name for rule in rules} | {rule.family for rule in rules}
    for name in wanted:
        if name not in names:
            raise UnknownRuleError(_unknown(name, names))
    return [
        rule
        for rule in rules
        if (not wanted or rule.name in wanted or rule.family in wanted)
        and (not quick or (rule.quick and rule.level is Level.MUST))
    ]


def plan(rules: Iterable[Rule], means: Means) -> dict[str, Cost]:
    """The requests sent at most on a healthy endpoint, by family."""
    costs: dict[str, Cost] = {}
    for rule in rules:
        if means.obstacle(rule) is None:
            costs[rule.family] = costs.get(rule.family, Cost()) + rule.cost
    return costs


def _absent(capability: Capability) -> str:
    if capability is Capability.AUTH:
        return "no key scheme was given (--auth)"
    return f"the endpoint does not claim the capability {capability.value}"


def _unknown(name: str, names: Iterable[str]) -> str:
    close = difflib.get_close_matches(name, sorted(names), n=3, cutoff=0.5)
    hint = f"; did you mean {' or '.join(close)}?" if close else "; see `aml rules`"
    return f"there is no rule or family {name!r}{hint}"
