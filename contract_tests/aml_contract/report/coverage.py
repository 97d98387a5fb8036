"""Coverage: what each clause, failure mode, peer check and case maps to, gaps included."""

from __future__ import annotations

import importlib
import tomllib
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from aml_contract.rule import Rule

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
    """Why there need be no rule."""

    @property
    def gap(self) -> bool:
        """Whether it asks in vain."""
        return not self.rules and self.reason is None


def coverage(rules: Iterable[Rule]) -> list[Line]:
    """Every clause, failure mode, peer check and case with the rules that point at it."""
    pointing: dict[tuple[str, str], list[str]] = defaultdict(list)
    for rule in rules:
        points = {
            "clause": rule.clauses,
            "mode": tuple(map(str, rule.modes)),
            "peer": rule.peers,
            "case": rule.cases,
        }
        for kind, ids in points.items():
            for each in ids:
                pointing[kind, each].append(rule.name)
    return [
        Line(kind, each, entry["title"], tuple(pointing[kind, each]), entry.get("reason"))
        for kind, entries in catalogue().items()
        for each, entry in entries.items()
    ]


def unknown_points(rules: Iterable[Rule]) -> list[str]:
    """What rules point at that does not exist: a slip of the pen."""
    known = catalogue()
    return [
        f"{rule.name}: {kind} {each}"
        for rule in rules
        for kind, ids in (
            ("clause", rule.clauses),
            ("mode", tuple(map(str, rule.modes))),
            ("peer", rule.peers),
            ("case", rule.cases),
        )
        for each in ids
        if each not in known[kind]
    ]


def catalogue() -> dict[str, dict[str, dict[str, str]]]:
    """All there is to cover, by kind and id: a title, and perhaps a reason."""
    text = files("aml_contract.report").joinpath("catalogue.toml").read_text(encoding="utf-8")
    return tomllib.loads(text)


def killers() -> Mapping[str, Sequence[str]]:
    """The broken servers that each rule is known to fail; empty outside the repository."""
    try:
        servers = importlib.import_module("tests.broken").servers()
    except (ImportError, AttributeError):
        return {}
    found: dict[str, list[str]] = defaultdict(list)
    for name, server in servers.items():
        for rule in getattr(server, "kills", {}):
            found[rule].append(name)
    return found


def coverage_table(rules: Sequence[Rule]) -> RenderableType:
    """All of it as tables, with the number of gaps at the end."""
    lines = coverage(rules)
    parts: list[RenderableType] = []
    for kind, title in _KINDS.items():
        table = Table(
            "", "asks for", "rules, or why none", title=title, box=None, title_justify="left"
        )
        for line in (line for line in lines if line.kind == kind):
            table.add_row(line.id, line.title, _answer(line))
        parts += [table, Text()]
    parts += [_rules_table(rules), Text()]
    gaps = [line for line in lines if line.gap]
    named = ", ".join(f"{line.kind} {line.id}" for line in gaps)
    parts.append(Text(f"{len(lines)} asked for, {len(gaps)} gaps{': ' + named if gaps else ''}"))
    parts += [Text(f"no such thing: {slip}", style="red") for slip in unknown_points(rules)]
    return Group(*parts)


def _rules_table(rules: Sequence[Rule]) -> Table:
    table = Table(title="rules", box=None, title_justify="left")
    table.add_column("rule", no_wrap=True)
    table.add_column("level")
    table.add_column("killed by")
    known = killers()
    for rule in rules:
        named = ", ".join(known.get(rule.name, ()))
        table.add_row(rule.name, rule.level.value, named or ("none" if known else "not known here"))
    return table


def _answer(line: Line) -> Text:
    if line.gap:
        return Text("gap", style="bold red")
    return Text(", ".join(line.rules) or line.reason or "")
