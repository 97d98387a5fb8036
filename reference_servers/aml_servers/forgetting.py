"""Forgetting one user in a data directory that nothing serves (clause L3)."""

from __future__ import annotations

import asyncio
import inspect
from pathlib import Path

from aml_sdk.errors import Misconfigured
from aml_sdk.ledger import SQLiteLedger
from aml_sdk.system import MemorySystem
from aml_servers.finding import find_system, make_system

_NAMES = "systems.txt"
"""File in a data directory: the systems that were served from it, one a line."""


def remember(name: str, data_dir: Path) -> None:
    """Note that a system is served from a directory, so that a user can be forgotten there."""
    if name not in _served(data_dir):
        with (data_dir / _NAMES).open("a", encoding="utf-8") as file:
            file.write(f"{name}\n")


def forget(user_id: str, data_dir: Path) -> int:
    """Remove a user from every memory that was served from the directory, and from its ledger.

    What was begun and fails is finished when the directory is next served, or by another call.

    Returns:
        How many of the user's Adds the ledger knew.

    Raises:
        Misconfigured: nothing was ever served from there, or a memory cannot be found or made.
        DataDirectoryBusy: a server owns the directory.
        SystemFailure: a memory cannot forget, or not now.
    """
    names = _served(data_dir)
    if not names:
        raise Misconfigured(f"no memory was ever served from {data_dir}")
    classes = [find_system(name) for name in names]
    for name, found in zip(names, classes, strict=True):
        if found.forget is MemorySystem.forget:
            raise Misconfigured(f"{name} does not implement forget")
    return asyncio.run(_forget(user_id, data_dir, classes))


async def _forget(user_id: str, data_dir: Path, classes: list[type[MemorySystem]]) -> int:
    ledger = SQLiteLedger(data_dir)
    try:
        await ledger.open()
        await ledger.begin_forgetting(user_id, "asked")
        for each in classes:
            system = make_system(each, data_dir)
            try:
                await _done(system.forget(user_id))
            finally:
                await _done(system.close())
        return await ledger.forget(user_id)
    finally:
        await ledger.close()


async def _done(result: object) -> None:
    """Wait for what an ``async`` method began."""
    if inspect.isawaitable(result):
        await result


def _served(data_dir: Path) -> list[str]:
    file = data_dir / _NAMES
    return file.read_text(encoding="utf-8").splitlines() if file.exists() else []
