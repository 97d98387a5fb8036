"""Mem0's library, loaded so that it keeps quiet and stays inside one directory."""

from __future__ import annotations

import logging
import os
import sqlite3
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from aml_sdk.errors import Misconfigured

if TYPE_CHECKING:
    from aml_adapters.chroma_files import ChromaFiles

_LEAST, _BELOW = (2, 2), (3, 0)
COLLECTION = "memories"
"""The name of Chroma's collection."""


def check_version() -> None:
    """See that the library is one that this adapter was tried with.

    An installer that is asked for a newer protobuf beside ``mem0ai`` silently takes a Mem0 of
    two generations ago, whose methods have the same names and do other things.

    Raises:
        Misconfigured: it is another version, or missing.
    """
    wanted = "pip install 'aml-contract[mem0]' brings one from 2.2 to below 3"
    try:
        found = version("mem0ai")
    except PackageNotFoundError:
        raise Misconfigured(
            f"the mem0 memory needs mem0ai, which is not installed: {wanted}"
        ) from None
    numbers = tuple(int(part) for part in found.split(".")[:2] if part.isdigit())
    if not _LEAST <= numbers < _BELOW:
        raise Misconfigured(
            f"mem0ai {found} is installed, which the mem0 memory does not know: {wanted}"
        )


def open_memory(directory: Path) -> tuple[Any, ChromaFiles]:
    """A ``mem0.Memory`` with a Chroma store, all files in ``directory``, which is there.

    Its embedder and its model are dummies, to be replaced before use: the library offers no
    other way to bring one's own.

    Returns:
        The memory, and the files of its store, which are to be closed.

    Raises:
        Misconfigured: the library was imported before, with telemetry.
    """
    _load(directory)
    chroma = import_module("aml_adapters.chroma_files")
    files: ChromaFiles = chroma.ChromaFiles(directory / "chroma")
    # Made here, so that Mem0 finds it: it would make one whose files a kill can spoil.
    files.client.get_or_create_collection(
        COLLECTION,
        embedding_function=None,
        configuration={"hnsw": {"space": "l2", **chroma.UNWRITTEN}},
    )
    files.collection(COLLECTION)
    never = {"provider": "openai", "config": {"api_key": "never used"}}
    config = {
        "vector_store": {
            "provider": "chroma",
            "config": {"collection_name": COLLECTION, "client": files.client},
        },
        "embedder": never,
        "llm": never,
        "history_db_path": str(history_path(directory)),
    }
    memory = import_module("mem0").Memory.from_config(config)
    # Its history is written message by message: it need not wait for the disk each time.
    memory.db.connection.execute("PRAGMA journal_mode = WAL")
    memory.db.connection.execute("PRAGMA synchronous = NORMAL")
    return memory, files


def failures() -> tuple[type[Exception], ...]:
    """What a full disk or a locked file is called by Mem0, by Chroma and by SQLite."""
    mem0, chroma = import_module("mem0.exceptions"), import_module("chromadb.errors")
    return (mem0.MemoryError, chroma.ChromaError, sqlite3.Error)


def history_path(directory: Path) -> Path:
    """The file in which the library keeps what became of each memory, and recent messages."""
    return directory / "history.sqlite3"


def _load(directory: Path) -> None:
    # Read once, at import. The directory gets a config.json; unset, it would be in $HOME.
    os.environ["MEM0_DIR"] = str(directory)
    os.environ["MEM0_TELEMETRY"] = "False"
    # Its messages quote what is stored (clause L3); the adapter says itself what failed.
    for name in ("mem0", "chromadb"):
        logging.getLogger(name).setLevel(logging.CRITICAL + 1)
    if import_module("mem0.memory.telemetry").MEM0_TELEMETRY:
        raise Misconfigured("mem0 was imported with telemetry on: set MEM0_TELEMETRY=False")
    # With spaCy installed but not its model, the library would download one.
    spacy: Any = import_module("mem0.utils.spacy_models")
    spacy._load_failed_full = spacy._load_failed_lemma = True  # noqa: SLF001  no other switch
