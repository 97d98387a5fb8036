"""Processes: a server that the kit starts, kills and restarts, or an operator restarts.

A managed server leads a session of its own, so that ``kill -9`` takes its whole group.
It writes to a log file whose end is shown when it fails. Whatever happens to the kit,
short of its own ``kill -9``, the group is killed and reaped.
"""

from __future__ import annotations

import asyncio
import atexit
import contextlib
import os
import shlex
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from aml_contract.endpoint.operator import run_command
from aml_contract.endpoint.ports import free_port, release_port, taken
from aml_contract.endpoint.probe import Probe
from aml_contract.endpoint.server_log import ServerLog

Say = Callable[[str], None]

_POLL = 0.02
_STOP_TIMEOUT = 30.0
_PORT_TRIES = 3


class StartError(Exception):
    """A server did not come up; the message shows the end of its log."""


class ManagedProcess:
    """A server started from a command.

    Args:
        command: a shell command with ``{port}`` and perhaps ``{data}`` in it.
        data_dir: where the server keeps its data; a temporary directory, removed by
            :meth:`close`, if not given.
        start_timeout: seconds until it must listen.
        ready_timeout: seconds it may then answer 5xx on health.
        say: told what is being waited for.
    """

    can_kill = True

    def __init__(
        self,
        command: str,
        *,
        data_dir: Path | None = None,
        start_timeout: float = 60.0,
        ready_timeout: float = 30.0,
        say: Say | None = None,
    ) -> None:
        self._command = command
        self._start_timeout = start_timeout
        self._ready_timeout = ready_timeout
        self._say = say or (lambda _: None)
        self._root = Path(tempfile.mkdtemp(prefix="aml-"))
        self.data_dir = data_dir or self._root / "data"
        self.data_dir.mkdir(parents=True, exist_ok=True)
        self.log = ServerLog(self._root / "server.log")
        self.port = free_port()
        self._probe: Probe | None = None
        self._child: subprocess.Popen[bytes] | None = None
        atexit.register(self.close)

    @property
    def command(self) -> str:
        """The command as the shell runs it."""
        return self.filled(self._command)

    def filled(self, command: str) -> str:
        """A shell command with this server's port and data directory in it."""
        return command.replace("{port}", str(self.port)).replace(
            "{data}", shlex.quote(str(self.data_dir))
        )

    @property
    def died(self) -> str | None:
        """How the server ended by itself, in words; ``None`` while it runs or was stopped."""
        if self._child is None or (code := self._child.poll()) is None:
            return None
        return f"the server {_exit_words(code)}{self.log.tail}"

    async def launch(self, probe_at: Callable[[int], Probe]) -> None:
        """Start it for the first time, on another port if the chosen one was taken meanwhile.

        Args:
            probe_at: makes the health probe for a port.

        Raises:
            StartError: it did not come up.
        """
        for attempt in range(_PORT_TRIES):
            self._probe = probe_at(self.port)
            try:
                await self.start()
            except StartError:
                if attempt == _PORT_TRIES - 1 or not taken(self.port):
                    raise
                release_port(self.port)
                self.port = free_port()
            else:
                return

    async def start(self) -> None:
        """Start it on the same data and port and wait until health answers.

        Raises:
            StartError: it exited, or did not listen in time.
        """
        known = self.log.path.exists()
        self._say("restarting the server" if known else f"starting the server: {self.command}")
        self._spawn()
        began = time.monotonic()
        listened: float | None = None
        while True:
            if words := self.died:
                self._kill_group()
                self._child = None
                raise StartError(words)
            status = await self._probe() if self._probe else None
            waited = time.monotonic() - began
            if status is not None:
                listened = waited if listened is None else listened
                if status < 500 or waited - listened >= self._ready_timeout:
                    return
            elif waited >= self._start_timeout:
                await self.kill()
                raise StartError(
                    f"the server did not answer within {self._start_timeout:g} s{self.log.tail}"
                )
            await asyncio.sleep(min(0.25, _POLL + waited / 20))

    async def kill(self) -> None:
        """``kill -9`` the whole process group and reap it."""
        self._kill_group()
        await self._reaped(_STOP_TIMEOUT)

    async def restart(self) -> None:
        """SIGTERM, wait (30 s, then ``kill -9``), start again.

        Raises:
            StartError: it did not come up again.
        """
        if self._child is not None and self._child.poll() is None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self._child.pid, signal.SIGTERM)
            await self._reaped(_STOP_TIMEOUT)
        await self.kill()
        await self.start()

    async def ensure(self) -> None:
        """Start it if a rule left it stopped.

        Raises:
            StartError: it did not come up.
        """
        if self._child is None:
            await self.start()

    def close(self) -> None:
        """Kill what runs, reap it, remove what was temporary. May be called twice."""
        self._kill_group()
        if self._child is not None:
            self._child.wait()
            self._child = None
        release_port(self.port)
        shutil.rmtree(self._root, ignore_errors=True)
        atexit.unregister(self.close)

    @property
    def complaints(self) -> str:
        """The last lines of the log that tell of an error, indented, or an empty string."""
        return self.log.complaints

    def _spawn(self) -> None:
        with self.log.path.open("ab") as log:
            self._child = subprocess.Popen(
                ["/bin/sh", "-c", self.command],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
                env={**os.environ, "PYTHONUNBUFFERED": "1"},
            )

    def _kill_group(self) -> None:
        if self._child is not None:
            # Also after the leader's end: its children may outlive it.
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self._child.pid, signal.SIGKILL)

    async def _reaped(self, seconds: float) -> None:
        """Wait for the leader's end; it counts as stopped by us, not as died."""
        deadline = time.monotonic() + seconds
        while self._child is not None and time.monotonic() < deadline:
            if self._child.poll() is not None:
                self._kill_group()
                self._child = None
                return
            await asyncio.sleep(_POLL)


class CommandProcess:
    """A remote server that an operator's command restarts (``--restart-cmd``)."""

    can_kill = False
    died = None
    complaints = ""

    def __init__(self, command: str, probe: Probe, *, timeout: float = 60.0) -> None:
        self._command = command
        self._probe = probe
        self._timeout = timeout

    async def kill(self) -> None:
        """Not possible.

        Raises:
            RuntimeError: always; rules that need it are not run.
        """
        raise RuntimeError("a remote server cannot be killed, only restarted")

    async def start(self) -> None:
        """Wait until health answers.

        Raises:
            StartError: it did not in time.
        """
        deadline = time.monotonic() + self._timeout
        while (status := await self._probe()) is None or status >= 500:
            if time.monotonic() >= deadline:
                raise StartError(
                    f"health did not answer within {self._timeout:g} s after --restart-cmd"
                )
            await asyncio.sleep(0.25)

    async def restart(self) -> None:
        """Run the operator's command, then wait until health answers.

        Raises:
            NotTested: the command failed or took too long.
            StartError: health did not answer in time.
        """
        await run_command("--restart-cmd", self._command)
        await self.start()

    async def ensure(self) -> None:
        """Nothing to do: the server is somebody else's."""


def _exit_words(code: int) -> str:
    if code < 0:
        return f"was ended by {signal.Signals(-code).name}"
    return f"exited with {code}"
