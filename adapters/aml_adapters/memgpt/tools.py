"""The tools by which the model edits and searches its memory.

A tool reaches the memory of one user and has no way to name another. Messages cannot be
changed or deleted by any. What is written must be made of the conversation's own words:
memory is evidence (clause S12), and neither the instructions nor an order in a message
should get into it by being repeated.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from pydantic import BaseModel, Field, ValidationError

from aml_adapters.hybrid.tokens import date_terms, query_terms, terms
from aml_adapters.memgpt.mind import LABELS, Mind, Note, Rejected, Said
from aml_sdk import tokens
from aml_sdk.content import event_time
from aml_sdk.providers.reply import ToolCall

PAGE = 5
"""Results of one search."""
_LONGEST_PASSAGE = 2_000  # characters
_GROUNDED = 0.5
"""The share of a text's words that must come from the conversation: less, and a model could
write what nobody said; more, and it could not put things in its own way."""

Label = Literal["human", "persona"]
Kind = Literal["recall", "archival"]


class _Tool(BaseModel):
    request_heartbeat: bool = Field(
        default=False, description="Whether to be called again after this, to go on."
    )


class CoreMemoryAppend(_Tool):
    """Add a line to a block of core memory, which you see at all times."""

    label: Label = Field(description="human: the people. persona: the assistant they talk to.")
    content: str = Field(description="What to add, in the words of the conversation.")


class CoreMemoryReplace(_Tool):
    """Replace text in a block of core memory."""

    label: Label = Field(description="The block.")
    old_content: str = Field(description="Text of the block, letter for letter.")
    new_content: str = Field(description="What stands there from now on; empty deletes.")


class ArchivalMemoryInsert(_Tool):
    """Write a passage into archival storage, which has no limit and which you do not see."""

    content: str = Field(description="One thing worth finding again, understandable by itself.")


class ArchivalMemorySearch(_Tool):
    """Search archival storage by meaning and words; what this turn wrote is not there yet."""

    query: str = Field(description="What to look for.")
    page: int = Field(default=0, ge=0, le=1_000, description=f"{PAGE} results a page.")


class ConversationSearch(_Tool):
    """Search all earlier messages, those that have left your context too."""

    query: str = Field(description="What to look for.")
    page: int = Field(default=0, ge=0, le=1_000, description=f"{PAGE} results a page.")


_TOOLS: dict[str, type[_Tool]] = {
    "core_memory_append": CoreMemoryAppend,
    "core_memory_replace": CoreMemoryReplace,
    "archival_memory_insert": ArchivalMemoryInsert,
    "archival_memory_search": ArchivalMemorySearch,
    "conversation_search": ConversationSearch,
}


def _described(name: str, tool: type[_Tool]) -> dict[str, Any]:
    schema = tool.model_json_schema()
    function = {
        "name": name,
        "description": schema.pop("description"),
        "parameters": {key: schema[key] for key in ("type", "properties", "required")},
    }
    return {"type": "function", "function": function}


SCHEMAS = [_described(name, tool) for name, tool in _TOOLS.items()]
"""The tools as the model is told of them."""


@dataclass(frozen=True)
class Found:
    """One result of a search in memory."""

    text: str
    timestamp: int | None


class Search(Protocol):
    """Looks in one user's stored memory."""

    def __call__(self, kind: Kind, query: str, first: int, count: int) -> Sequence[Found]:
        """Results from ``first`` on, best first.

        Raises:
            Unavailable: memory cannot be searched now.
        """


@dataclass(frozen=True)
class Outcome:
    """What became of a call."""

    result: str
    """JSON for the model."""
    ok: bool
    go_on: bool
    """Whether the model is called again: it asked, or must hear what went wrong."""


class Toolbox:
    """The tools in the hands of one turn's model.

    Args:
        mind: what they change.
        batch: the messages that the turn is about.
        search: of stored memory.
        result_tokens: what is shown of one result.
    """

    def __init__(
        self, mind: Mind, batch: Sequence[Said], search: Search, result_tokens: int
    ) -> None:
        self._mind = mind
        self._batch = batch
        self._search = search
        self._result_tokens = result_tokens
        self._heard: set[str] = set()
        self._unheard = [(f"{said.role} {said.text}", said.timestamp) for said in mind.queue]
        self._unheard += [(mind.core.text(label), None) for label in LABELS]
        self._unheard += [(f"{said.role} {said.text}", said.timestamp) for said in batch]

    def call(self, call: ToolCall) -> Outcome:
        """Carry a call out; a call that is wrong in any way changes nothing.

        Raises:
            Unavailable: memory cannot be searched now.
        """
        try:
            tool = _read(call)
            message = self._carry_out(tool)
        except Rejected as error:
            return Outcome(_json({"status": "Failed", "message": str(error)}), False, True)
        return Outcome(_json({"status": "OK", **message}), True, tool.request_heartbeat)

    def _carry_out(self, tool: _Tool) -> dict[str, Any]:
        match tool:
            case CoreMemoryAppend(label=label, content=content):
                self._check(content)
                self._mind.core.append(label, content, lambda text: self._note(text, label))
            case CoreMemoryReplace(label=label, old_content=old, new_content=new):
                if new:
                    self._check(new)
                self._mind.core.replace(label, old, new, lambda text: self._note(text, label))
            case ArchivalMemoryInsert(content=content):
                self._check(content)
                self._mind.archived.append(self._note(content.strip(), ""))
            case ArchivalMemorySearch(query=query, page=page):
                return self._results("archival", query, page)
            case ConversationSearch(query=query, page=page):
                return self._results("recall", query, page)
        return {}

    def _results(self, kind: Kind, query: str, page: int) -> dict[str, Any]:
        if not query.strip():
            raise Rejected("query is blank")
        found = self._search(kind, query, page * PAGE, PAGE)
        results = []
        for each in found:
            text = tokens.cut(each.text, self._result_tokens)
            time = event_time(each.timestamp)
            told = {} if time is None else {"time": time.isoformat(timespec="minutes")}
            results.append({**told, "text": text})
            self._heard.update(_words(text, each.timestamp))
        return {"page": page, "results": results}

    def _check(self, content: str) -> None:
        """Refuse what is no memory of this conversation."""
        if not content.strip():
            raise Rejected("content is blank")
        if len(content) > _LONGEST_PASSAGE:
            raise Rejected(f"content is longer than {_LONGEST_PASSAGE} characters: split it")
        if any(content in said.text for said in self._batch):
            return
        wanted = set(query_terms(content)) - _NAMES
        while len(wanted & self._heard) < max(1, _GROUNDED * len(wanted)):
            if not self._unheard:
                raise Rejected(
                    "content is not about what was said: use the words of the conversation"
                )
            self._heard.update(_words(*self._unheard.pop()))

    def _note(self, text: str, label: str) -> Note:
        """The text with the message that it comes from, else with the time of this turn."""
        for said in (*reversed(self._batch), *reversed(self._mind.queue)):
            if text in said.text:
                return Note(
                    "core" if label else "archival", text, said.sequence, said.timestamp, label
                )
        times = [said.timestamp for said in self._batch if said.timestamp is not None]
        return Note("core" if label else "archival", text, None, max(times, default=None), label)


_NAMES = frozenset(terms("user assistant human persona"))


def _words(text: str, timestamp: int | None) -> Iterable[str]:
    day = event_time(timestamp)
    return [*terms(text), *(() if day is None else date_terms(day.date()))]


def _read(call: ToolCall) -> _Tool:
    tool = _TOOLS.get(call.name)
    if tool is None:
        raise Rejected(f"there is no such tool; there are {', '.join(_TOOLS)}")
    try:
        return tool.model_validate_json(call.arguments or "{}")
    except ValidationError as error:
        wrong = "; ".join(
            f"{'.'.join(map(str, each['loc'])) or 'arguments'}: {each['msg']}"
            for each in error.errors(include_input=False, include_url=False)
        )
        raise Rejected(wrong) from None


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)
