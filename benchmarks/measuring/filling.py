"""Stores of many messages, made before anything is measured."""

from __future__ import annotations

import multiprocessing
import shutil
import signal
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from aml_adapters.embedders.base import Vectors
from aml_adapters.embedders.static import StaticEmbedder
from aml_adapters.memgpt.policy import Policy
from aml_contract.smoke.locomo import Conversation
from aml_sdk.providers.reply import ChatReply
from aml_servers.finding import find_system, make_system
from benchmarks.measuring.talk import USER, much


class Stores:
    """Directories of data, each of one system and one number of messages.

    Args:
        directory: where they are.
        talk: what is said in them, over and over.
    """

    processes = 2
    """How many are filled at once."""

    def __init__(self, directory: Path, talk: Sequence[Conversation]) -> None:
        self.directory = directory
        self.talk = talk
        directory.mkdir(parents=True, exist_ok=True)

    def path(self, system: str, messages: int) -> Path:
        """Where a store is, or will be."""
        return self.directory / f"{system.rpartition('.')[2].replace(':', '-')}-{messages}"

    def fill(self, wanted: Mapping[str, Sequence[int]], told: Callable[[str, int], None]) -> None:
        """Make those that are not there, the larger ones of a system from the smaller.

        Args:
            wanted: for each system the numbers of messages.
            told: is called with each that is made.
        """
        context = multiprocessing.get_context("spawn")

        def grow(system: str, sizes: Sequence[int]) -> None:
            begun: tuple[Path, int] | None = None
            for messages in sorted(sizes):
                store = self.path(system, messages)
                if not store.exists():
                    pool.submit(_filled, system, store, messages, begun, self.talk).result()
                    told(system, messages)
                begun = (store, messages)

        with (
            ProcessPoolExecutor(self.processes, context, initializer=_end_quietly) as pool,
            ThreadPoolExecutor(len(wanted) or 1) as threads,
        ):
            for done in [threads.submit(grow, *each) for each in wanted.items()]:
                done.result()

    def remove(self) -> None:
        """Remove them all."""
        shutil.rmtree(self.directory, ignore_errors=True)


def _end_quietly() -> None:
    """Ctrl-C ends this process without a word."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def _filled(
    system: str,
    store: Path,
    messages: int,
    begun: tuple[Path, int] | None,
    talk: Sequence[Conversation],
) -> None:
    """Store messages of one user by the memory's own Adds; the directory is there when all are.

    Args:
        system: a memory as ``aml serve`` names it, whose methods block.
        store: the directory that is made.
        messages: how many it holds.
        begun: a store of fewer, to go on from, and how many.
        talk: what is said.
    """
    _take_short_cuts()
    growing = store.with_suffix(".growing")
    shutil.rmtree(growing, ignore_errors=True)
    first = 0
    if begun is not None:
        smaller, first = begun
        shutil.copytree(smaller, growing)
    growing.mkdir(exist_ok=True)
    memory = make_system(find_system(system), growing)
    for add in much(talk, USER, first, messages):
        memory.add(add)
    memory.close()
    growing.rename(store)


@cache
def _take_short_cuts() -> None:
    """Leave out, in this process, what takes long and changes nothing of a store."""
    # Methods are replaced in this one process, which only fills: mypy cannot know that.
    StaticEmbedder.embed = _remembering(StaticEmbedder.embed)  # type: ignore[method-assign]
    Policy.complete = _not_looking_back(Policy.complete)  # type: ignore[method-assign]


def _remembering(embed: Callable[..., Vectors]) -> Callable[..., Vectors]:
    """Embed each text once: copies of a conversation have the same vectors."""
    known: dict[str, Vectors] = {}

    def remembered(embedder: StaticEmbedder, texts: Sequence[str]) -> Vectors:
        new = list(dict.fromkeys(text for text in texts if text not in known))
        known.update(zip(new, embed(embedder, new), strict=True))
        return np.stack([known[text] for text in texts]) if texts else embed(embedder, texts)

    return remembered


def _not_looking_back(complete: Callable[..., ChatReply]) -> Callable[..., ChatReply]:
    """Leave out the policy's searches: they take long, and it makes nothing of what it finds."""

    def completed(policy: Policy, messages: Any, **rest: Any) -> ChatReply:
        reply = complete(policy, messages, **rest)
        calls = (each for each in reply.tool_calls if not each.name.endswith("_search"))
        return replace(reply, tool_calls=tuple(calls))

    return completed
