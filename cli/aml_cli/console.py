"""Where commands print."""

from __future__ import annotations

import os
import sys

from rich.console import Console


class SteadyConsole(Console):
    """Goes on when its reader has gone (``aml check … | head``).

    The exit code and the files of a run are worth as much without a reader.
    """

    def on_broken_pipe(self) -> None:
        """Print to nowhere from now on."""
        self.quiet = True
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
