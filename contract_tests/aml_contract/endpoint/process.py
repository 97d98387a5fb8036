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
import re
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

from aml_contract.endpoint.operator import run_command

Say = Callable[[str], None]
Probe = Callable[[], Awaitable[int | None]]
"""Asks health once: its status, or ``None`` if nothing answered."""

_claims: dict[int, socket.socket] = {}
"""What keeps the ports of this process from other kits."""
_POLL = 0.02
_STOP_TIMEOUT = 30.0
_PORT_TRIES = 3
_LOG_TAIL = 20
_COMPLAINT = re.compile("error|exception|panic", re.IGNORECASE)
_COMPLAINTS = 3
_COMPLAINT_LENGTH = 600
_LOG_BYTES = 16_384
"""Of the end of a log, in which its last lines are looked for: a log may be huge."""


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
        self.log = self._root / "server.log"
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
        return f"the server {_exit_words(code)}{self.log_tail()}"

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
                if attempt == _PORT_TRIES - 1 or not _taken(self.port):
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
        known = self.log.exists()
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
                    f"the server did not answer within {self._start_timeout:g} s{self.log_tail()}"
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

    def log_tail(self) -> str:
        """The last lines the server wrote, indented, or an empty string."""
        try:
            with self.log.open("rb") as log:
                log.seek(max(0, self.log.stat().st_size - _LOG_BYTES))
                lines = log.read().decode(errors="replace").splitlines()[-_LOG_TAIL:]
        except OSError:
            return ""
        return "".join(f"\n    | {line}" for line in lines)

    @property
    def complaints(self) -> str:
        """The last lines of the log that tell of an error, indented, or an empty string."""
        try:
            lines = self.log.read_text(errors="replace").splitlines()
        except OSError:
            return ""
        found = [line for line in lines if _COMPLAINT.search(line)][-_COMPLAINTS:]
        return "".join(f"\n    | {line[:_COMPLAINT_LENGTH]}" for line in found)

    def _spawn(self) -> None:
        with self.log.open("ab") as log:
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


def free_port() -> int:
    """A port that was free a moment ago, and that no other kit on this machine will choose.

    A server takes seconds to listen. Were its port given to another's meanwhile, that one
    would answer the health probe, and be judged in its place.
    """
    while True:
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = int(probe.getsockname()[1])
        if _claimed(port):
            return port


def release_port(port: int) -> None:
    """Give up a port from :func:`free_port`; the end of the process does so too."""
    if claim := _claims.pop(port, None):
        claim.close()


def _claimed(port: int) -> bool:
    """Whether the port is ours now: Linux keeps names for sockets that are no files."""
    if not sys.platform.startswith("linux"):
        return True
    claim = socket.socket(socket.AF_UNIX)
    try:
        claim.bind(f"\0aml-contract-port-{port}")
    except OSError:
        claim.close()
        return False
    _claims[port] = claim
    return True


def _taken(port: int) -> bool:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return True
        return False


def _exit_words(code: int) -> str:
    if code < 0:
        return f"was ended by {signal.Signals(-code).name}"
    return f"exited with {code}"
