"""Figures as Markdown, and the page of the documentation that holds them."""

from __future__ import annotations

import platform
import re
import subprocess
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from pathlib import Path

import psutil

from benchmarks.cells import ROOT, Figures

PAGE = ROOT / "docs" / "adapters" / "numbers.md"


def table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table, its first column left, the others right."""
    lines = [heads, ["---", *("--:" for _ in heads[1:])], *rows]
    return "".join(f"| {' | '.join(cells)} |\n" for cells in lines)


def write(name: str, markdown: str) -> None:
    """Put it between the marks of that name."""
    marks = re.compile(rf"(<!-- figures: {name} -->\n).*?(<!-- end -->)", re.DOTALL)
    text, count = marks.subn(lambda m: f"{m[1]}\n{markdown.strip()}\n\n{m[2]}", PAGE.read_text())
    if count != 1:
        raise ValueError(f"{PAGE} has no marks for figures: {name}")
    PAGE.write_text(text)


def origin(figures: Iterable[Figures], where: Path) -> str:
    """When, of what and on what machine it was measured.

    Args:
        figures: of all cells; each knows how busy the machine was before.
        where: directory of the data that was written.
    """
    busy = max(each["busy"] for each in figures)
    return (
        f"{datetime.now(UTC):%d %B %Y}, commit {_git('rev-parse', '--short', 'HEAD')}"
        f"{' with changes' if _git('status', '--porcelain', '--untracked-files=no') else ''};"
        f" {_processor()}, {psutil.cpu_count()} cores, {_file_system(where)},"
        f" Python {platform.python_version()}; load before it began: {busy:.1f}."
    ).lstrip("0")


def _git(*words: str) -> str:
    ran = subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True, check=True)
    return ran.stdout.strip()


def _processor() -> str:
    names = re.findall(r"^model name\s*:\s*(.*)$", Path("/proc/cpuinfo").read_text(), re.MULTILINE)
    return names[0] if names else platform.machine()


def _file_system(where: Path) -> str:
    """The kind of file system: on one in memory, waiting for the disk would cost nothing."""
    mounts = [
        each
        for each in psutil.disk_partitions(all=True)
        if where.resolve().is_relative_to(each.mountpoint)
    ]
    return str(max(mounts, key=lambda each: len(each.mountpoint)).fstype)
