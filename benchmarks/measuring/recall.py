"""How much of the evidence a memory gives back."""

from __future__ import annotations

import dataclasses
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from aml_contract.smoke.locomo import Conversation
from aml_contract.smoke.recall import Measured, measure
from aml_contract.smoke.run import TOP_K
from aml_sdk import MemorySystem, SearchRequest
from aml_sdk.content import text_of
from aml_servers.finding import find_system, make_system
from benchmarks.measuring.talk import said


def recall(system: str, conversations: Sequence[Conversation]) -> dict[str, Any]:
    """What :func:`answers` tells, as a cell keeps it."""
    return {"questions": list(map(dataclasses.asdict, answers(system, conversations)))}


def answers(system: str, conversations: Sequence[Conversation]) -> list[Measured]:
    """Store each conversation as a user of one memory, then ask every question.

    Args:
        system: a memory as ``aml serve`` names it, whose methods block.
        conversations: what is stored and asked.
    """
    with tempfile.TemporaryDirectory() as directory:
        memory = make_system(find_system(system), Path(directory))
        for conversation in conversations:
            for add in said(conversation, conversation.name):
                memory.add(add)
        measured = [each for conversation in conversations for each in _asked(memory, conversation)]
        memory.close()
    return measured


def _asked(memory: MemorySystem, conversation: Conversation) -> Iterator[Measured]:
    turns = {turn.id: turn for turn in conversation.turns}
    for question in conversation.questions:
        request = SearchRequest(query=question.text, user_id=conversation.name, top_k=TOP_K)
        found: Any = memory.search(request)  # blocking methods give no awaitable
        yield measure(question, turns, [text_of(each.content) for each in found])
