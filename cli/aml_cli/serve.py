"""``aml serve``: a memory system behind the contract's server."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated, NoReturn

import typer


class Auth(StrEnum):
    """How clients carry the key (clause K1)."""

    bearer = "bearer"
    token = "token"  # noqa: S105  the name of a scheme
    x_api_key = "x-api-key"
    none = "none"


def serve(
    system: Annotated[
        str, typer.Argument(help="A registered memory, or pkg.mod:Class.", show_default=True)
    ] = "hybrid",
    host: Annotated[str, typer.Option(help="Address to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="0: any free port.")] = 8080,
    data: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Where everything is kept.", show_default="./.aml/NAME"),
    ] = None,
    auth: Annotated[Auth, typer.Option(help="How clients carry the key.")] = Auth.none,
    key_env: Annotated[
        str | None, typer.Option(metavar="VAR", help="The variable that holds the key.")
    ] = None,
) -> None:
    """Serve a memory over HTTP: BASE/add, BASE/search, BASE/health.

    Ends on SIGTERM or Ctrl-C, after the Adds under way. Exit 2: it cannot start as asked.
    """
    try:
        from aml_sdk.errors import AMLError
        from aml_sdk.server import Settings
        from aml_servers import serving
    except ModuleNotFoundError as error:
        _refuse(f"serving needs the module {error.name}: pip install 'aml-contract[server]'")

    if auth is Auth.none and key_env:
        _refuse("--key-env needs an --auth scheme")
    directory = data or Path(".aml") / system.replace(":", "-")
    try:
        key = None if auth is Auth.none else serving.key_from_environment(key_env)
        settings = Settings(auth=auth.value, key=key)
        bound = serving.bind(host, port)
        serving.serve(
            system,
            bound,
            directory.absolute(),
            settings,
            when_ready=typer.echo,
        )
    except AMLError as error:
        _refuse(str(error))


def _refuse(reason: str) -> NoReturn:
    """Say on standard error why it cannot start, and exit 2."""
    typer.echo(f"aml serve: {reason}", err=True)
    raise typer.Exit(2)
