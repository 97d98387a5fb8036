"""``aml rules``: which rules there are, and what of the contract they cover."""

from __future__ import annotations

from typing import Annotated

import typer


def rules(
    coverage: Annotated[
        bool,
        typer.Option("--coverage", help="What each clause, failure mode and peer check maps to."),
    ] = False,
) -> None:
    """List the rules by family, with their levels and clauses."""
    from rich.table import Table

    from aml_cli.console import SteadyConsole
    from aml_contract.report.coverage import coverage_table
    from aml_contract.rule import all_rules

    console = SteadyConsole()
    known = all_rules()
    if coverage:
        console.print(coverage_table(known))
        return
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
