"""What the file holds, read past the adapter."""

import json
import sqlite3


def rows(tmp_path, statement, *values):
    file = sqlite3.connect(tmp_path / "data" / "memgpt.sqlite3")
    try:
        return file.execute(statement, values).fetchall()
    finally:
        file.close()


def notes(tmp_path, kind):
    return [
        text
        for (text,) in rows(
            tmp_path, "SELECT text FROM note WHERE kind = ? ORDER BY label, place, sequence", kind
        )
    ]


def summary(tmp_path):
    return rows(tmp_path, "SELECT summary FROM user")[0][0]


def events(chat):
    """The parts of a request to the model, by their type."""
    found = {}
    for message in chat["messages"]:
        if message["role"] == "user":
            event = json.loads(message["content"])
            found[event.get("type", "summarise")] = event
    return found


def core_of(chat):
    return json.loads(chat["messages"][0]["content"].rsplit("\n", 1)[1])


def results(chat):
    """What the tools answered so far in this turn."""
    return [
        json.loads(message["content"]) for message in chat["messages"] if message["role"] == "tool"
    ]
