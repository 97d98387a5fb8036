"""The SQLite file: messages (recall), notes (core and archival), and what finds them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from aml_adapters.hybrid.entries import SCHEMA as ENTRIES
from aml_adapters.memgpt.rows import Snapshot, Transaction
from aml_adapters.sqlite_file import SQLiteFile, SQLiteStore

_SCHEMA_VERSION = 1
_SCHEMA = f"""
-- epoch: changes when an entry of the user is removed. next_sequence counts messages and notes.
-- summary, evicted, warned: of the agent's context, see Mind.
CREATE TABLE user (
    key INTEGER PRIMARY KEY AUTOINCREMENT,
    user_id TEXT NOT NULL UNIQUE,
    epoch INTEGER NOT NULL DEFAULT 0,
    next_sequence INTEGER NOT NULL DEFAULT 0,
    summary TEXT NOT NULL DEFAULT '',
    evicted INTEGER NOT NULL DEFAULT -1,
    warned INTEGER NOT NULL DEFAULT 0
);
CREATE TABLE session (
    key INTEGER PRIMARY KEY AUTOINCREMENT,
    user INTEGER NOT NULL REFERENCES user,
    session_id TEXT NOT NULL,
    UNIQUE (user, session_id)
);

-- Adds that are stored, with a digest of what they said.
CREATE TABLE request (
    user INTEGER NOT NULL REFERENCES user,
    request_id TEXT NOT NULL,
    digest BLOB NOT NULL,
    PRIMARY KEY (user, request_id)
) WITHOUT ROWID;

-- Recall storage: what was said, word for word.
CREATE TABLE message (
    user INTEGER NOT NULL REFERENCES user,
    sequence INTEGER NOT NULL,
    id TEXT NOT NULL UNIQUE,
    role TEXT NOT NULL,
    timestamp INTEGER,
    content TEXT NOT NULL,
    PRIMARY KEY (user, sequence)
);

-- What the agent wrote. source: sequence of a message that holds the text word for word.
CREATE TABLE note (
    user INTEGER NOT NULL REFERENCES user,
    sequence INTEGER NOT NULL,
    id TEXT NOT NULL UNIQUE,
    kind TEXT NOT NULL CHECK (kind IN ('core', 'archival')),
    label TEXT NOT NULL,
    place INTEGER NOT NULL,
    timestamp INTEGER,
    source INTEGER,
    text TEXT NOT NULL,
    PRIMARY KEY (user, sequence)
);
CREATE INDEX core_of_user ON note (user, place) WHERE kind = 'core';
{ENTRIES}
"""


class Store(SQLiteStore[Snapshot, Transaction]):
    """The file, safe to use from several threads at once.

    Raises:
        IncompatibleDataError: the file was written under other ``settings``, or is no
            SQLite file.
        Unavailable: the file cannot be opened.
    """

    def __init__(self, path: Path, settings: Mapping[str, str]) -> None:
        file = SQLiteFile(path, _SCHEMA, _SCHEMA_VERSION, settings)
        super().__init__(file, Snapshot, Transaction)
