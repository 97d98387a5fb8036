"""The SQLite file: what was said, and what finds it. One transaction an Add."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from aml_adapters.hybrid.entries import SCHEMA as ENTRIES
from aml_adapters.hybrid.rows import Snapshot, Transaction
from aml_adapters.sqlite_file import SQLiteFile, SQLiteStore

_SCHEMA_VERSION = 1
_SCHEMA = f"""
-- key: never used twice. epoch: changes when something of the user is removed.
CREATE TABLE user (
    key INTEGER PRIMARY KEY AUTOINCREMENT,
    user_id TEXT NOT NULL UNIQUE,
    epoch INTEGER NOT NULL DEFAULT 0,
    next_sequence INTEGER NOT NULL DEFAULT 0
);
CREATE TABLE session (
    key INTEGER PRIMARY KEY AUTOINCREMENT,
    user INTEGER NOT NULL REFERENCES user,
    session_id TEXT NOT NULL,
    UNIQUE (user, session_id)
);

-- What was said. parts: content is the JSON of a part list, else the text itself.
CREATE TABLE message (
    row INTEGER PRIMARY KEY,
    user INTEGER NOT NULL REFERENCES user,
    sequence INTEGER NOT NULL,
    id TEXT NOT NULL UNIQUE,
    request_id TEXT NOT NULL,
    position INTEGER NOT NULL,
    session INTEGER NOT NULL REFERENCES session,
    role TEXT NOT NULL,
    timestamp INTEGER,
    parts INTEGER NOT NULL,
    content TEXT NOT NULL,
    UNIQUE (user, sequence)
);
CREATE INDEX message_by_request ON message (user, request_id);
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
