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

    from aml_contract.smoke.answering import Answerer
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
    answer: Annotated[
        str | None,
        typer.Option(
            metavar="URL|stub",
            help="Have the questions answered from what comes back, and evaluate that: by a model "
            "behind a URL that speaks OpenAI's protocol, or by a reader without one.",
        ),
    ] = None,
    answer_model: Annotated[
        str, typer.Option(metavar="NAME", help="The model behind that URL.")
    ] = "gpt-4o-mini",
    answer_key_env: Annotated[
        str | None,
        typer.Option(
            metavar="VAR", help="The environment variable that holds the key of that model."
        ),
    ] = None,
    json: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Write the figures as JSON."),
    ] = None,
) -> None:
    """Send conversations as the platform would, ask their questions, measure what comes back.

    With --answer it goes the whole way of the platform's Smoke run, Add, Search, Answer and
    Evaluate, and says how that would end there and why.

    Exit codes: 0 all was answered, 1 an answer broke the contract, 2 usage, 3 error of the
    kit, the answer model does not answer, or FILE could not be written, 4 nothing answers,
    130 interrupted (what was seen is still reported).
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
    made = Smoke(
        target,
        conversations,
        seed=settings["seed"] or 0,
        questions=questions,
        answerer=_answerer(answer, answer_model, answer_key_env) if answer else None,
    )
    _print_header(console, conversations, made)
    print_settings(console, settings, target)
    code = _execute(made, console)
    if json is not None:
        document = made.as_json(files or [shipped()])
        unwritten = write_file(json, dumps(document, ensure_ascii=False, indent=2) + "\n")
        code = code or unwritten
    raise typer.Exit(code)


def _answerer(answer: str, model: str, key_env: str | None) -> Answerer:
    """Who answers the questions.

    Raises:
        typer.Exit: with code 2, the reason printed, if that makes no sense.
    """
    import os

    from aml_contract.smoke.answering import Model, Stub

    if answer == "stub":
        return Stub()
    if not answer.startswith(("http://", "https://")):
        usage_error(f"--answer is a URL such as https://api.example/v1, or stub, not {answer!r}")
    key = os.environ.get(key_env, "").strip() if key_env else None
    if key == "":
        usage_error(f"${key_env} is not set; is it exported? (export {key_env}=…)")
    try:
        return Model(answer, model, key)
    except ModuleNotFoundError as error:
        usage_error(f"--answer URL needs the module {error.name}: pip install 'aml-contract[llm]'")


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
        _print_diagnosis(console, made)
        return 4
    console.print()
    console.print(made.summary())
    if made.evaluation:
        console.print()
        console.print(made.evaluation)
    if made.broken:
        typer.echo(f"\naml: {made.broken}", err=True)
    if made.unanswered:
        typer.echo(f"\naml: {made.unanswered}; no fault of your endpoint", err=True)
    _print_diagnosis(console, made)
    if made.broken or made.unanswered:
        return 1 if made.broken else 3
    if not made.record.complete or (made.answerer and not made.evaluation):
        typer.echo("\naml: interrupted; the figures are of what was answered until then", err=True)
        return 130
    return 0


def _print_diagnosis(console: Console, made: Smoke) -> None:
    """How the platform's run would end, and why; nothing without --answer."""
    found = made.diagnosis
    if not made.answerer or found is None:
        return
    console.print()
    platform = f"ends with {found.label}" if found.label else "comes to its end"
    for words in (f"On the platform this Smoke run {platform}.", f"Diagnosis: {found.cause}"):
        console.print(words, markup=False, highlight=False, soft_wrap=True)
