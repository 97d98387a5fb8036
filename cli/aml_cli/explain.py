"""``aml explain``: what a rule is about."""

from __future__ import annotations

from typing import Annotated

import typer

from aml_cli.running import usage_error


def explain(
    name: Annotated[str, typer.Argument(metavar="RULE", help="A rule, or a whole family.")],
) -> None:
    """Say what a rule asks, why, and how to fix what breaks it."""
    from aml_cli.console import SteadyConsole
    from aml_contract.checking.selection import UnknownRuleError, select
    from aml_contract.report.explanation import explanation
    from aml_contract.rule import all_rules

    try:
        chosen = select(all_rules(), [name])
    except UnknownRuleError as error:
        usage_error(str(error))
    console = SteadyConsole()
    for number, rule in enumerate(chosen):
        if number:
            console.print()
        console.print(explanation(rule))
