"""Standard output that cannot be written: its reader has gone, or its disk is full."""

from __future__ import annotations

import os
import sys

lost: list[OSError] = []
"""What kept standard output from being written, if something did."""


def give_up_stdout(error: OSError) -> None:
    """Say why standard output cannot be written, and let what follows go to nowhere."""
    lost.append(error)
    drop_stdout()
    sys.stderr.write(f"aml: standard output cannot be written: {error.strerror or error}\n")


def drop_stdout() -> None:
    """Let everything that is printed from now on go to nowhere."""
    # What the stream still holds is written once more when Python ends.
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
