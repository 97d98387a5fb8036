"""``aml smoke``: send real conversations, ask their questions, measure what comes back."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from aml_cli.options import configured
from aml_cli.running import (
    make_target,
    print_settings,
    until_interrupted,
    usage_error,
)
from aml_cli.writing import write_file
from aml_contract.config import Resolved

if TYPE_CHECKING:
    from rich.console import Console

    from aml_contract.smoke.locomo import Conversation
    from aml_contract.smoke.session import Smoke


@configured("endpoint", "concurrency", "timeout", "seed")
def smoke(
    settings: Resolved,
    files: Annotated[
        list[Path] | None,
        typer.Argument(
            metavar="FILE",
            help="LoCoMo files or directories of them; a small conversation of the kit's own "
            "if none is given.",
            show_default=False,
        ),
    ] = None,
    questions: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            min=1,
            help="Ask at most so many of each conversation's questions.",
        ),
    ] = None,
    json: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Write the figures as JSON."),
    ] = None,
) -> None:
    """Send conversations as the platform would, ask their questions, measure what comes back.

    Exit codes: 0 all was answered, 1 an answer broke the contract, 2 usage, 3 error of the
    kit or FILE could not be written, 4 nothing answers, 130 interrupted (what was seen is
    still reported).
    """
    from json import dumps

    from aml_cli.console import SteadyConsole
    from aml_contract.smoke.locomo import MalformedFileError, load, shipped
    from aml_contract.smoke.session import Smoke

    target = make_target(settings)
    try:
        conversations = load(files or [shipped()])
    except MalformedFileError as error:
        usage_error(str(error))
    console = SteadyConsole()
    made = Smoke(target, conversations, seed=settings["seed"] or 0, questions=questions)
    _print_header(console, conversations, made)
    print_settings(console, settings, target)
    code = _execute(made, console)
    if json is not None:
        document = made.as_json(files or [shipped()])
        unwritten = write_file(json, dumps(document, ensure_ascii=False, indent=2) + "\n")
        code = code or unwritten
    raise typer.Exit(code)


def _print_header(console: Console, conversations: list[Conversation], made: Smoke) -> None:
    turns = sum(len(list(each.turns)) for each in conversations)
    names = ", ".join(each.name for each in conversations)
    console.print(
        f"aml smoke · {names} · {turns} turns · run {made.settings.run} · "
        f"seed {made.settings.seed} · {made.target.concurrency} at once",
        markup=False,
        highlight=False,
        soft_wrap=True,
    )


def _execute(made: Smoke, console: Console) -> int:
    """Run it and print what it found; the exit code."""
    from aml_contract.smoke.progress import progress

    with progress(console) as watching:
        until_interrupted(made.execute(watching))
    if made.unreachable:
        typer.echo(f"aml: {made.unreachable}", err=True)
        return 4
    console.print()
    console.print(made.summary())
    if made.broken:
        typer.echo(f"\naml: {made.broken}", err=True)
        return 1
    if not made.record.complete:
        typer.echo("\naml: interrupted; the figures are of what was answered until then", err=True)
        return 130
    return 0
