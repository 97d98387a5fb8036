"""Where commands print."""

from __future__ import annotations

from typing import Any

from rich.console import Console

from aml_cli.stdout import drop_stdout, give_up_stdout


class SteadyConsole(Console):
    """Goes on when its reader has gone (``aml check … | head``) or its disk is full.

    The exit code and the files of a run are worth as much without a reader.
    """

    def print(self, *objects: Any, **how: Any) -> None:
        """Print; what cannot be written any more is said once, on standard error."""
        try:
            super().print(*objects, **how)
        except OSError as error:
            self.quiet = True
            give_up_stdout(error)

    def on_broken_pipe(self) -> None:
        """Print to nowhere from now on."""
        self.quiet = True
        drop_stdout()
