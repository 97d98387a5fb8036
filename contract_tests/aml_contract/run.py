"""A run: what all rules of one check of one endpoint share."""

from __future__ import annotations

import secrets
import time
from collections import Counter
from dataclasses import dataclass, field

from aml_contract.exchange import Exchange, Operation
from aml_contract.rule import Capability


@dataclass(frozen=True)
class Refusal:
    """A legal request without the 200, or without an answer that anybody would read to its end.

    ``rule`` names the rule that sent it.
    """

    rule: str
    exchange: Exchange


@dataclass
class Run:
    """The settings and shared record of one run.

    ``patience`` scales every wait of the kit: 1 for strangers, less in tests whose
    servers are known. ``salt`` is unique to the run, ``seed`` chooses its course.
    """

    seed: int
    salt: str
    patience: float = 1.0
    capabilities: frozenset[Capability] = frozenset({Capability.VERBATIM, Capability.IMAGES})
    warn_latency: float = 90.0
    """Seconds above which proxies in front of real entries cut (clause F2)."""
    fail_latency: float = 1800.0
    """Seconds after which the platform gives up (clause F2)."""
    slow_start: float = 10.0
    """Seconds from which a first request that is far slower than the others is reported."""
    slow_growth: float = 1.0
    """Seconds from which a request that grew far slower with a user's history is reported."""
    fuzz_budget: float = 20.0
    """Seconds that the rules of the family fuzz may take together; 0 for none."""
    quick: bool = False
    track: str = "textual"
    refusals: list[Refusal] = field(default_factory=list)
    floods: Counter[Operation] = field(default_factory=Counter)
    """How often an answer was larger than any reader would take."""
    exchanges: list[Exchange] = field(default_factory=list)
    """Every exchange of the run, in order of completion; of long answers the beginning."""
    by_rule: dict[str, list[Exchange]] = field(default_factory=dict)
    """The same, by the name of the rule that sent them."""
    ordinary: list[Exchange] = field(default_factory=list)
    """The last try of every ordinary Add and Search: what ``latency/*`` judges."""

    def keep(self, rule: str, exchange: Exchange) -> None:
        """Record what a rule sent; of long bodies the beginning is kept."""
        light = exchange.light
        if exchange.flood:
            self.floods[exchange.operation] += 1
            self.refusals.append(Refusal(rule, light))
        self.exchanges.append(light)
        self.by_rule.setdefault(rule, []).append(light)

    def seconds_of(self, operation: str) -> list[float]:
        """How long each ordinary request of that kind took that got its 200."""
        return [
            made.seconds
            for made in self.ordinary
            if made.operation == operation and made.status == 200
        ]


def new_run_id() -> str:
    """A run's name, which is its salt too: when, and a few random letters."""
    return f"{time.strftime('%Y%m%dT%H%M%S')}-{secrets.token_hex(3)}"
