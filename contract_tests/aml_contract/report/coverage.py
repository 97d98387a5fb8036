"""Coverage: what each clause, failure mode, peer check and case maps to, gaps included."""

from __future__ import annotations

import tomllib
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from aml_contract.rule import Rule

REASONS = ("platform's duty", "declaration", "human review", "test of the kit itself")
"""What every reason begins with; a colon and the rest of it follow."""
Killers = Mapping[str, Sequence[str]]
"""The servers, wrong in one way each, that each rule is known to fail."""

_KINDS = {
    "clause": "clauses of the wire contract",
    "mode": "failure modes seen in the wild",
    "peer": "checks that participants wrote",
    "case": "cases",
}


@dataclass(frozen=True)
class Line:
    """One thing that asks for a rule. With neither rules nor a reason it is a gap."""

    kind: str
    """``clause``, ``mode``, ``peer`` or ``case``."""
    id: str
    title: str
    rules: tuple[str, ...]
    reason: str | None
    """Why there need be no rule, or what rules leave to others."""

    @property
    def trouble(self) -> str | None:
        """What is wrong with it in words: it asks in vain, or its reason is none."""
        if self.reason is None:
            return None if self.rules else "has neither a rule nor a reason"
        kind, colon, rest = self.reason.partition(":")
        if kind in REASONS and colon and rest.strip():
            return None
        return f"has a reason that is none of {', '.join(REASONS)}"


def coverage(rules: Iterable[Rule]) -> list[Line]:
    """Every clause, failure mode, peer check and case with the rules that point at it."""
    pointing: dict[tuple[str, str], list[str]] = defaultdict(list)
    for rule in rules:
        for point in _points(rule):
            pointing[point].append(rule.name)
    return [
        Line(kind, each, entry["title"], tuple(pointing[kind, each]), entry.get("reason"))
        for kind, entries in catalogue().items()
        for each, entry in entries.items()
    ]


def gaps(rules: Sequence[Rule], killers: Killers | None) -> list[str]:
    """What is missing, one sentence each; nothing if the coverage is complete.

    Args:
        rules: the rules of the kit.
        killers: ``None`` where they are not known, outside the repository.
    """
    known = catalogue()
    found = [f"{line.kind} {line.id} {line.trouble}" for line in coverage(rules) if line.trouble]
    for rule in rules:
        points = _points(rule)
        found += [
            f"{rule.name} points at {kind} {each}, which does not exist"
            for kind, each in points
            if each not in known[kind]
        ]
        if not points:
            found.append(f"{rule.name} points at nothing")
        if killers is not None and not killers.get(rule.name):
            found.append(f"{rule.name} has no killer")
    return found


def catalogue() -> dict[str, dict[str, dict[str, str]]]:
    """All there is to cover, by kind and id: a title, and perhaps a reason."""
    text = files("aml_contract.report").joinpath("catalogue.toml").read_text(encoding="utf-8")
    return tomllib.loads(text)


def coverage_table(rules: Sequence[Rule], killers: Killers | None) -> RenderableType:
    """All of it as tables, with what is missing at the end.

    Args:
        rules: the rules of the kit.
        killers: ``None`` where they are not known; the column says so.
    """
    lines = coverage(rules)
    parts: list[RenderableType] = []
    for kind, title in _KINDS.items():
        table = Table(
            "", "asks for", "rules, or why none", title=title, box=None, title_justify="left"
        )
        for line in (line for line in lines if line.kind == kind):
            table.add_row(line.id, line.title, _answer(line))
        parts += [table, Text()]
    parts += [_rules_table(rules, killers), Text()]
    missing = gaps(rules, killers)
    parts += [Text(f"gap: {one}", style="bold red") for one in missing]
    parts.append(Text(f"{len(lines)} asked for, {len(rules)} rules, {len(missing)} gaps"))
    if killers is None:
        parts.append(Text("killers are known in a clone of the project only", style="dim"))
    return Group(*parts)


def _points(rule: Rule) -> list[tuple[str, str]]:
    """What the rule points at: kinds and ids."""
    points = {
        "clause": rule.clauses,
        "mode": tuple(map(str, rule.modes)),
        "peer": rule.peers,
        "case": rule.cases,
    }
    return [(kind, each) for kind, ids in points.items() for each in ids]


def _rules_table(rules: Sequence[Rule], killers: Killers | None) -> Table:
    """What each rule rests on, and what it was seen to find."""
    table = Table(title="rules", box=None, title_justify="left")
    table.add_column("rule", no_wrap=True)
    for heading in ("level", "clauses", "modes", "peer checks", "cases", "killed by"):
        table.add_column(heading)
    for rule in rules:
        killed = ", ".join((killers or {}).get(rule.name, ()))
        table.add_row(
            rule.name,
            rule.level.value,
            " ".join(rule.clauses),
            " ".join(map(str, rule.modes)),
            " ".join(rule.peers),
            " ".join(rule.cases),
            killed or ("none" if killers is not None else "not known here"),
        )
    return table


def _answer(line: Line) -> Text:
    if line.trouble:
        return Text(line.trouble, style="bold red")
    return Text("\n".join(filter(None, (", ".join(line.rules), line.reason))))
