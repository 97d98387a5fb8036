"""What commands that run something share: a polite end, and a report on disk."""

from __future__ import annotations

from collections.abc import Coroutine
from pathlib import Path
from typing import Any

import typer


def until_interrupted(work: Coroutine[Any, Any, None]) -> None:
    """Run ``work`` to its end, or until Ctrl-C or SIGTERM cancels it.

    A polite end of the kit must end the server that it started, as Ctrl-C does.
    """
    import asyncio
    import contextlib
    import signal

    signal.signal(signal.SIGTERM, lambda *_: signal.raise_signal(signal.SIGINT))
    with contextlib.suppress(KeyboardInterrupt):
        asyncio.run(work)


def write_report(path: Path, text: str) -> None:
    """Write a report; what prevents it is said and costs nothing else."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text + "\n", encoding="utf-8")
    except OSError as error:
        typer.echo(f"aml: the report was not written: {error}", err=True)
