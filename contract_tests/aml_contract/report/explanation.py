"""A rule explained: what, why, fix, and what it costs to try."""

from __future__ import annotations

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from aml_contract.rule import Cost, Rule


def explanation(rule: Rule) -> RenderableType:
    """The rule as a page for a terminal."""
    table = Table.grid(padding=(0, 2))
    table.add_column(style="dim", no_wrap=True)
    table.add_column(overflow="fold")
    rows = {
        "what": rule.title,
        "how": doc_of(rule),
        "why": rule.why,
        "fix": rule.fix,
        "clause": ", ".join(rule.clauses),
        "failure modes": ", ".join(map(str, rule.modes)),
        "peer checks": ", ".join(rule.peers),
        "cases": ", ".join(rule.cases),
        "needs": ", ".join(sorted(rule.needs)),
        "only with": ", ".join(sorted(rule.capabilities)),
        "cost": cost_words(rule.cost),
        "when": when_words(rule),
    }
    for name, text in rows.items():
        if text:
            table.add_row(f"  {name}", Text(text))
    return Group(Text.assemble((rule.name, "bold"), f" · {rule.level}"), table)


def doc_of(rule: Rule) -> str:
    """What the rule does, from its function's docstring."""
    return " ".join((rule.check.__doc__ or "").split())


def cost_words(cost: Cost) -> str:
    """The requests a rule sends, in words."""
    return f"at most {cost.adds} Adds, {cost.searches} Searches and {cost.others} other requests"


def when_words(rule: Rule) -> str:
    """When in a run the rule is tried."""
    if rule.last:
        return "after all others"
    return "alone" if rule.exclusive else "side by side with others"
