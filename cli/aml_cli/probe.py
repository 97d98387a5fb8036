"""``aml probe``: what a memory remembers, and at which stage the rest is lost."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from aml_cli.options import configured
from aml_cli.running import make_target, print_settings, until_interrupted, usage_error
from aml_cli.writing import write_file
from aml_contract.config import Resolved

if TYPE_CHECKING:
    from rich.console import Console

    from aml_contract.probe.session import Probe
    from aml_contract.probe.world import Mode


@configured("endpoint", "concurrency", "timeout")
def probe(
    settings: Resolved,
    users: Annotated[int, typer.Option(metavar="N", min=1, help="Invent so many users.")] = 3,
    seed: Annotated[
        int, typer.Option(metavar="N", help="Choose the lives; the same seed tells the same.")
    ] = 0,
    modes: Annotated[
        str,
        typer.Option(
            metavar="MODES",
            help="How to ask: by name (direct), for advice, for two things at once (joint).",
        ),
    ] = "direct,advice,joint",
    language: Annotated[
        str, typer.Option(metavar="en|zh", help="The language that users speak.")
    ] = "en",
    json: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write all figures as JSON.")
    ] = None,
    html: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Write one HTML page as well, which opens offline."),
    ] = None,
) -> None:
    """Tell invented lives that change, ask what is true now, and say what became of it.

    No model is needed, and nothing of it is part of a verdict.

    Exit codes: 0 done, 1 an answer broke the contract, 2 usage, 3 the kit's own controls failed or
    a file could not be written, 4 nothing answers, 130 interrupted.
    """
    # What the extra brings: that it is missing is told before anything is done.
    import bm25s  # noqa: F401

    from aml_cli.console import SteadyConsole
    from aml_contract.probe.language import LANGUAGES
    from aml_contract.probe.lives import Parameters
    from aml_contract.probe.session import Probe
    from aml_contract.probe.world import World
    from aml_contract.run import new_run_id

    target, asked = make_target(settings), _modes(modes)
    if language not in LANGUAGES:
        usage_error(f"--language is one of {', '.join(LANGUAGES)}, not {language!r}")
    world = World(seed, new_run_id(), Parameters(users=users), language)
    made, console = Probe(target, world, asked), SteadyConsole()
    people = f"{users} user{'s' if users != 1 else ''}"
    console.print(
        f"aml probe · {people} · {language} · {', '.join(asked)} · run {world.run} · "
        f"seed {seed} · {target.concurrency} at once",
        markup=False,
        highlight=False,
        soft_wrap=True,
    )
    print_settings(console, settings, target)
    code = _execute(made, console)
    if json is not None:
        unwritten = write_file(json, made.report.model_dump_json(indent=2) + "\n")
        code = code or unwritten
    if html is not None and made.report.scores:
        from aml_contract.probe.html import html as page

        unwritten = write_file(html, page(made.report))
        code = code or unwritten
    raise typer.Exit(code)


def _modes(given: str) -> list[Mode]:
    """The modes of a list with commas, each once.

    Raises:
        typer.Exit: with code 2, the reason printed, if one is unknown.
    """
    from aml_contract.probe.world import MODES

    wanted = {mode.strip() for mode in given.split(",")}
    if unknown := sorted(wanted - set(MODES)):
        usage_error(f"--modes are of {', '.join(MODES)}, not {unknown[0]!r}")
    return [mode for mode in MODES if mode in wanted]


def _execute(made: Probe, console: Console) -> int:
    """Run it and print what it found; the exit code."""
    from aml_contract.probe.guard import NotTrustedError
    from aml_contract.probe.progress import progress
    from aml_contract.probe.terminal import print_report

    try:
        with progress(console) as watching:
            until_interrupted(made.execute(watching))
    except NotTrustedError as error:
        typer.echo(
            f"aml: no figures, for the kit's own controls failed: {error}; "
            "no fault of your endpoint",
            err=True,
        )
        return 3
    report = made.report
    if report.unreachable:
        typer.echo(f"aml: {report.unreachable}", err=True)
        return 4
    if report.broken:
        typer.echo(f"\naml: {report.broken}", err=True)
        return 1
    if report.scores is None:
        typer.echo("\naml: interrupted; half a probe has no figures", err=True)
        return 130
    console.print()
    print_report(console, report)
    return 0
