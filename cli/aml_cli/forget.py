"""``aml forget``: a user is removed from a data directory."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def forget(
    user: Annotated[str, typer.Argument(help="The user_id, exactly as it was sent.")],
    data: Annotated[Path, typer.Option(metavar="DIR", help="The directory of `aml serve`.")],
) -> None:
    """Remove everything about a user: memories, what was derived of them, the ledger's rows.

    Stop the server first. Exit 1: the memory could not do it now. Exit 2: it cannot be done so.
    """
    try:
        from aml_sdk.errors import AMLError, SystemFailure
        from aml_sdk.identity import short_digest
        from aml_servers import forgetting
    except ModuleNotFoundError as error:
        typer.echo(
            f"aml forget: this needs the module {error.name}: pip install 'aml-contract[server]'",
            err=True,
        )
        raise typer.Exit(2) from None
    try:
        adds = forgetting.forget(user, data.absolute())
    except (AMLError, OSError) as error:
        typer.echo(f"aml forget: {error}", err=True)
        raise typer.Exit(1 if isinstance(error, SystemFailure | OSError) else 2) from None
    typer.echo(
        f"forgotten: user {short_digest(user)}, {adds} Adds; noted in {data / 'forgotten.jsonl'}"
    )
