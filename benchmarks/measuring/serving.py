"""Servers in processes of their own, as they are run."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

import psutil

from tests.servers import in_process

ROOT = Path(__file__).parents[2]
_MB = 1e6
_PATIENCE = 300
"""Seconds in which a server must listen; three, where nothing else is at work."""


class Served:
    """A server that listens."""

    def __init__(self, url: str, pid: int) -> None:
        self.url = url
        self._process = psutil.Process(pid)

    @property
    def cpu(self) -> float:
        """Seconds of CPU that its process has used."""
        times = self._process.cpu_times()
        return float(times.user + times.system)

    @property
    def resident(self) -> float:
        """Its resident memory in MB."""
        return float(self._process.memory_info().rss / _MB)


def served(system: str, data: Path) -> AbstractContextManager[Served]:
    """``aml serve`` until the block ends, its log beside its data."""
    words = ["aml_cli.main", "serve", system, "--port", "{port}", "--data", str(data)]
    return _running(words, data.with_suffix(".log"))


def running_bare(app: str, log: Path) -> AbstractContextManager[Served]:
    """A server of :mod:`benchmarks.measuring.bare` until the block ends."""
    return _running(["benchmarks.measuring.bare", app, "--port", "{port}"], log)


@contextmanager
def _running(module: Sequence[str], log: Path) -> Iterator[Served]:
    """A module of Python with its arguments; stopped politely."""
    words = [sys.executable, "-m", *module]
    with (
        log.open("ab") as errors,
        in_process(
            words, patience=_PATIENCE, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=errors
        ) as started,
    ):
        yield Served(started.url, started.child.pid)
        started.stop()


def size(directory: Path) -> float:
    """What its files take, in MB."""
    return sum(file.stat().st_size for file in directory.rglob("*") if file.is_file()) / _MB
