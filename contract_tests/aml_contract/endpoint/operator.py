"""The operator's hooks: commands that restart, break or heal what the kit cannot reach.

What goes wrong with such a command is the operator's trouble, never the endpoint's: it ends
a rule as *not tested*.
"""

from __future__ import annotations

import asyncio
import atexit
import contextlib
import os
import signal
import subprocess
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import IO

from aml_contract.finding import NotTested

LONGEST_COMMAND = 120.0
"""Seconds after which an operator's command is ended."""
_MOST_OUTPUT = 2_000
"""Characters of a failed command's output that are shown, from its end."""


class Faults:
    """Breaks what the endpoint depends on, and heals it whatever happens.

    Args:
        fault: the shell command of ``--fault-cmd``.
        heal: the shell command of ``--heal-cmd``. It is also run where the fault was not
            complete, and a second time if the first was cut off.
        timeout: seconds that each may take.
    """

    def __init__(self, fault: str, heal: str, *, timeout: float = LONGEST_COMMAND) -> None:
        self._fault = fault
        self._heal = heal
        self._timeout = timeout
        self.trouble: str | None = None
        """Why the endpoint may still be broken, in words, once it was not healed."""

    @asynccontextmanager
    async def broken(self) -> AsyncIterator[None]:
        """The fault holds inside; it is healed on every way out, Ctrl-C included.

        Raises:
            NotTested: a command failed or took too long. What left the block goes first.
        """
        if self.trouble:
            raise NotTested(f"the endpoint may still be broken: {self.trouble}")
        # For a second Ctrl-C, which cuts the healing off.
        atexit.register(self._heal_at_exit)
        try:
            await run_command("--fault-cmd", self._fault, longest=self._timeout)
            yield
        except BaseException:
            with contextlib.suppress(NotTested):
                await self._healed()
            raise
        await self._healed()

    async def _healed(self) -> None:
        try:
            await run_command("--heal-cmd", self._heal, longest=self._timeout)
        except NotTested as failed:
            self.trouble = failed.message
            atexit.unregister(self._heal_at_exit)
            raise
        atexit.unregister(self._heal_at_exit)

    def _heal_at_exit(self) -> None:
        with contextlib.suppress(subprocess.TimeoutExpired):
            subprocess.run(
                ["/bin/sh", "-c", self._heal],
                stdin=subprocess.DEVNULL,
                start_new_session=True,
                timeout=self._timeout,
                check=False,
            )


async def run_command(option: str, command: str, *, longest: float = LONGEST_COMMAND) -> None:
    """Run an operator's shell command to its end, in the kit's environment.

    It leads a session of its own: Ctrl-C is for the kit, which then decides. Processes that
    it leaves behind (``my-server &``) are left alone.

    Args:
        option: where the command was given, for the message.
        command: what the shell runs.
        longest: seconds after which it is killed with all that it started.

    Raises:
        NotTested: it failed or took too long; the message shows the end of its output.
    """
    # A file, not a pipe: a server left in the background would keep a pipe open for ever.
    with tempfile.TemporaryFile() as output:
        child = await asyncio.create_subprocess_shell(
            command,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=output,
            stderr=asyncio.subprocess.STDOUT,
            start_new_session=True,
        )
        try:
            async with asyncio.timeout(longest):
                code = await child.wait()
        except BaseException as error:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(child.pid, signal.SIGKILL)
            if isinstance(error, TimeoutError):
                words = f"{option} did not end within {longest:g} s"
                raise NotTested(words + _end_of(output)) from None
            raise
        if code != 0:
            raise NotTested(f"{option} exited with {code}" + _end_of(output))


def _end_of(output: IO[bytes]) -> str:
    output.seek(0)
    text = output.read().decode(errors="replace").strip()
    return f": {text[-_MOST_OUTPUT:]}" if text else ""
