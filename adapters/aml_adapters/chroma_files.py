"""Chroma in local files, so that ``kill -9`` does no harm and what is deleted can be cleared.

Chroma keeps a log, in SQLite, and a graph of vectors that it now and then writes to files of
its own. They are not written in one step: killed meanwhile, Chroma can never again apply its
log to them, and refuses every write (chroma-core/chroma#7678). The memories here compare
vectors exactly and never ask the graph. So it stays small and in memory, and is made from the
log at the start: 20,000 vectors take 0.7 s. The log is emptied only when a user is forgotten.
"""

from __future__ import annotations

import sqlite3
import warnings
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import chromadb
from chromadb.config import Settings

_NEVER = 2**31 - 1
_SOON = 100
UNWRITTEN = {"sync_threshold": _NEVER, "max_neighbors": 4, "ef_construction": 4}
"""Of a collection's configuration under ``hnsw``: no graph worth writing, and none written."""


def quiet_settings() -> Settings:
    """Chroma's settings without its telemetry."""
    return Settings(anonymized_telemetry=False)


class ChromaFiles:
    """The client of a directory, closed and opened again where Chroma is to write its files.

    Not safe to use from a second thread during :meth:`empty_log`.

    Args:
        directory: of Chroma's files; made if need be.
    """

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self.client = self._opened()

    def collection(self, name: str) -> chromadb.Collection:
        """A collection that is there; one of before this was known is set right."""
        found: chromadb.Collection = self.client.get_collection(name, embedding_function=None)
        if found.configuration_json["hnsw"]["sync_threshold"] != _NEVER:
            found = self._reopened(found, _NEVER)
        return found

    def empty_log(self, name: str) -> chromadb.Collection:
        """Have Chroma write its graph and empty its log, in which deleted records stand.

        It takes as long as reading and writing all files once, whoever's records they hold.

        Returns:
            The collection, to be used in place of the one before.
        """
        found = self._reopened(self.collection(name), _SOON)
        # Writes that remove nothing: enough of them make it do so.
        found.delete(ids=[f"none-{number}" for number in range(_SOON + 1)])
        return self._reopened(found, _NEVER, self._vacuum)

    def close(self) -> None:
        """Close the files."""
        self.client.close()

    def _reopened(
        self,
        collection: chromadb.Collection,
        threshold: int,
        meanwhile: Callable[[], None] = lambda: None,
    ) -> chromadb.Collection:
        with warnings.catch_warnings():
            # It reads what it wrote itself, and calls that legacy.
            warnings.simplefilter("ignore", DeprecationWarning)
            collection.modify(configuration={"hnsw": {"sync_threshold": threshold}})
        # It holds from the next opening on.
        self.client.close()
        meanwhile()
        self.client = self._opened()
        made: chromadb.Collection = self.client.get_collection(
            collection.name, embedding_function=None
        )
        return made

    def _vacuum(self) -> None:
        # What was deleted stands in free pages of the file until they are used again.
        with closing(sqlite3.connect(self._directory / "chroma.sqlite3")) as file:
            file.execute("VACUUM")

    def _opened(self) -> Any:
        return chromadb.PersistentClient(str(self._directory), settings=quiet_settings())
