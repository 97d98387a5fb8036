"""Recorded findings, one for each rule: what a broken server was sent and what it said.

``python -m tests.docs.examples`` records them.
"""

from __future__ import annotations

from pathlib import Path

from pydantic import BaseModel, TypeAdapter

FILE = Path(__file__).with_name("examples.json")


class Step(BaseModel):
    """One exchange, shortened."""

    sent: str
    """Method and path."""
    body: str
    answer: str
    """The status, or why there is none."""
    reply: str


class Example(BaseModel):
    """What a rule finds on a server that breaks it."""

    server: str
    """Its name among the broken servers."""
    wrong: str
    """What is wrong with it; empty where its name says all."""
    message: str
    exchanges: list[Step]


def examples() -> dict[str, Example]:
    """The recorded findings by rule."""
    return TypeAdapter(dict[str, Example]).validate_json(FILE.read_bytes())
