"""``aml serve``: a memory system behind the contract's server."""

from __future__ import annotations

import os
from enum import StrEnum
from pathlib import Path
from typing import Annotated, NoReturn

import typer

_DAY = 86_400


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
    forget_after: Annotated[
        int | None,
        typer.Option(metavar="DAYS", min=1, help="Forget users so long after their last Add."),
    ] = None,
    chroma_url: Annotated[
        str | None,
        typer.Option(metavar="URL", help="rag: a Chroma server instead of files in DIR."),
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
    if chroma_url:
        if system != "rag":
            _refuse(f"--chroma-url is for rag, and {system} does not use it")
        os.environ["AML_CHROMA_URL"] = chroma_url
    directory = data or Path(".aml") / system.replace(":", "-")
    try:
        key = None if auth is Auth.none else serving.key_from_environment(key_env)
        seconds = None if forget_after is None else forget_after * _DAY
        settings = Settings(auth=auth.value, key=key, forget_after=seconds)
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
