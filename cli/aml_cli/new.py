"""``aml new``: a project to begin a memory with."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from aml_cli.running import usage_error


def new(
    name: Annotated[
        str, typer.Argument(metavar="NAME", help="What the project is called, as in my-memory.")
    ],
    into: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Where to put it; ./NAME if not given."),
    ] = None,
) -> None:
    """Begin a memory: a project that works at once, with tests, an image and a workflow.

    Exit 2: the name cannot be used, or the directory holds something.
    """
    from aml_cli.scaffold.names import NameRefusedError, names_for
    from aml_cli.scaffold.project import NoRoomError, write_project

    try:
        names = names_for(name)
        place = into or Path(name)
        written = write_project(names, place)
    except (NameRefusedError, NoRoomError) as error:
        usage_error(str(error))
    typer.echo(f"{place}/")
    for path in written:
        typer.echo(f"  {path}")
    typer.echo(
        f"\nThe memory is {names.class_name} in {place / names.package / 'memory.py'}. Try it:\n\n"
        f"  cd {place}\n"
        "  aml check --quick\n"
    )
