"""``aml rules``: which rules there are, and what of the contract they cover."""

from __future__ import annotations

from typing import Annotated

import typer


def rules(
    coverage: Annotated[
        bool,
        typer.Option(
            "--coverage",
            help="What each clause, failure mode and peer check maps to; exit 1 if to nothing.",
        ),
    ] = False,
) -> None:
    """List the rules by family, with their levels and clauses."""
    from rich.table import Table

    from aml_cli.console import SteadyConsole
    from aml_contract.report.coverage import coverage_table, gaps
    from aml_contract.rule import all_rules

    console = SteadyConsole()
    known = all_rules()
    if coverage:
        killers = _killers()
        console.print(coverage_table(known, killers))
        raise typer.Exit(bool(gaps(known, killers)))
    table = Table(box=None)
    table.add_column("rule", no_wrap=True)  # to be copied, and found by grep in a pipe
    table.add_column("level")
    table.add_column("clause", max_width=12)
    table.add_column("what a conforming endpoint does")
    family = ""
    for rule in known:
        if family and rule.family != family:
            table.add_section()
        family = rule.family
        table.add_row(rule.name, rule.level.value, ", ".join(rule.clauses), rule.title)
    console.print(table)
    console.print(f"{len(known)} rules", style="dim")


def _killers() -> dict[str, list[str]] | None:
    """The servers that each rule must fail; ``None`` outside a clone of the project."""
    from aml_cli.matrix import COLLECTION
    from aml_contract.matrix.collection import load_collection
    from aml_contract.matrix.plan import PlanError

    try:
        entries = load_collection(COLLECTION)
    except PlanError:
        return None
    found: dict[str, list[str]] = {}
    for entry in entries:
        for rule in set(entry.kills) - set(entry.risks):
            found.setdefault(rule, []).append(entry.name)
    return found
