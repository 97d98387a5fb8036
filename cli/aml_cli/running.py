"""What commands that run something share: a target, a header, a polite end."""

from __future__ import annotations

from collections.abc import Coroutine
from typing import TYPE_CHECKING, Any, NoReturn

import typer

if TYPE_CHECKING:
    from rich.console import Console

    from aml_contract.config import Resolved
    from aml_contract.endpoint.target import Target


def until_interrupted(work: Coroutine[Any, Any, None]) -> None:
    """Run ``work`` to its end, or until Ctrl-C or SIGTERM cancels it.

    A polite end of the kit must end the server that it started, as Ctrl-C does.
    """
    import asyncio
    import contextlib
    import signal

    async def stoppable() -> None:
        task = asyncio.current_task()
        assert task is not None
        # By itself, not by way of SIGINT: shells have that ignored by what runs beside them.
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, task.cancel)
        await work

    with contextlib.suppress(KeyboardInterrupt, asyncio.CancelledError):
        asyncio.run(stoppable())


def make_target(settings: Resolved) -> Target:
    """The target of these settings; the key is read from its variable.

    Raises:
        typer.Exit: with code 2, the reason printed, if they make no sense.
    """
    from aml_contract.config.target import target_from
    from aml_contract.endpoint.target import TargetError

    try:
        return target_from(settings)
    except TargetError as error:
        usage_error(str(error))


def print_settings(console: Console, settings: Resolved, target: Target) -> None:
    """Print each value that is no default, and where it came from; never a key.

    What whoever set them should know goes to standard error.
    """
    rows = [
        (each.setting.name, target.credentials.redact(each.shown), each.origin)
        for each in settings.given
    ]
    wide = max((len(name) for name, *_ in rows), default=0)
    for name, value, origin in rows:
        line = f"  {name:{wide}}  {value}  ({origin})"
        console.print(line, style="dim", markup=False, highlight=False, soft_wrap=True)
    for remark in settings.remarks:
        typer.echo(f"aml: {remark}", err=True)


def usage_error(message: str) -> NoReturn:
    """Say what was wrong with the command line or the settings and leave with code 2.

    Raises:
        typer.Exit: always.
    """
    typer.echo(f"aml: {message}", err=True)
    raise typer.Exit(2)
