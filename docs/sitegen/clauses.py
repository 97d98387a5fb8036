"""The wire contract with what points at each clause, and the failure modes with their rules."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from aml_contract.report.coverage import Line
from sitegen.markdown import cell
from sitegen.rules import page_of

_CLAUSE = re.compile(r"^- \*\*([A-Z]\d+)\*\* ", re.MULTILINE)


def with_rules(contract: str, clauses: Iterable[Line]) -> str:
    """The contract, each clause with an anchor and the rules that try it.

    Raises:
        ValueError: the text and the catalogue do not have the same clauses.
    """
    known = {line.id: line for line in clauses}
    found = _CLAUSE.findall(contract)
    if odd := set(found) ^ set(known):
        raise ValueError(f"only in one of contract and catalogue: {', '.join(sorted(odd))}")
    lines: list[str] = []
    for line in contract.splitlines():
        match = _CLAUSE.match(line)
        if match is None:
            lines.append(line)
            continue
        clause = known[match[1]]
        anchor = f'<span id="{clause.id.lower()}"></span>'
        lines += [f"- {anchor}{line[2:]}", "", f"    {_pointing(clause)}", ""]
    return "\n".join(lines) + "\n"


def failure_modes(modes: Sequence[Line]) -> str:
    """The page of the failure modes."""
    rows = ["| | what was seen | rules, or why none |", "| --- | --- | --- |"]
    rows += [
        f'| <span id="mode-{mode.id}"></span>{mode.id} | {cell(mode.title)} | {_answer(mode)} |'
        for mode in modes
    ]
    return (
        "# Failure modes\n\n"
        "What went wrong with real endpoints, and the rules that find it.\n\n"
        + "\n".join(rows)
        + "\n"
    )


def _pointing(clause: Line) -> str:
    words = "Rules:" if clause.rules else "No rule:"
    return f'<span class="pointing">{words} {_answer(clause)}</span>'


def _answer(line: Line) -> str:
    return _links(line) or cell(line.reason or "")


def _links(line: Line) -> str:
    return ", ".join(f"[{rule}]({page_of(rule)})" for rule in line.rules)
