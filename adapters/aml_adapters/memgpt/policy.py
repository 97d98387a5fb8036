"""Rules in place of a chat model, so that the same loop runs without one.

It imitates what a model does with the tools: it finds facts by patterns in English and
Chinese, replaces those that change, moves old ones to archival storage when core memory is
full, looks things up when a message points back, and summarises by first clauses. The same
messages always give the same memory. It understands nothing.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from aml_sdk.providers.reply import ChatReply, ToolCall

_SENTENCE = re.compile(r"[^.!?。！？\n]+(?:[.!?。！？]+|\n|$)")
_SPEAKER = re.compile(r"[^\s:：][^:：\n]{0,39}[:：] ?(?=\S)")
_FACTS = {
    "name": r"\bmy name is\b|\bcall me [A-Z]|我叫|我的名字",
    "home": r"\bI(?:'ve| have| just)* (?:live|moved|am living)\b|我(?:现在)?住在|我搬到",
    "work": r"\bI(?:'m| am)? work(?:ing)? (?:as|at|for|in)\b|\bmy job\b|我在.{1,20}(?:工作|上班)",
    "taste": r"\bI (?:really |absolutely )?(?:like|love|prefer|hate|enjoy)\b"
    r"|我(?:很|最|不)?(?:喜欢|爱吃|讨厌)",
    "health": r"\bI(?:'m| am) allergic\b|我对.{1,20}过敏",
    "kin": r"\bmy (?:wife|husband|partner|son|daughter|brother|sister|mother|father|dog|cat)\b"
    r"|我(?:的)?(?:妻子|丈夫|儿子|女儿|妈妈|爸爸|狗|猫)",
    "birth": r"\bmy birthday\b|\bI was born\b|我的生日|我出生",
}
_PATTERNS = {kind: re.compile(pattern, re.IGNORECASE) for kind, pattern in _FACTS.items()}
_ONE_OF_A_KIND = {"name", "home", "work", "birth"}
_BACK = re.compile(
    r"\b(?:remember|remind me|as I (?:said|told you)|last time)\b|还记得|上次|我说过", re.IGNORECASE
)
_CONCRETE = re.compile(r"\d|(?<=[a-z,] )[A-Z]|[\u4e00-\u9fff]{8}")
_SHORTEST, _LONGEST = 12, 400  # characters of what is archived
_MOST = 8  # passages a turn
_CLAUSE = 80  # characters of a message in a summary
_SUMMARY = 2_000


class Policy:
    """Answers like a chat model."""

    def complete(  # noqa: PLR0913  the interface of Chat
        self,
        messages: Sequence[Mapping[str, Any]],
        *,
        tools: Sequence[Mapping[str, Any]] | None = None,
        tool_choice: str | Mapping[str, Any] | None = None,
        response_format: Mapping[str, Any] | None = None,
        temperature: float | None = 0,
        max_tokens: int | None = None,
    ) -> ChatReply:
        """Calls of tools at first, then the end of the turn; a summary if there are no tools."""
        if not tools:
            return ChatReply(_summary(json.loads(messages[-1]["content"])))
        if messages[-1]["role"] == "tool":
            return ChatReply("done")
        events = [json.loads(each["content"]) for each in messages[1:]]
        core = json.loads(messages[0]["content"].rsplit("\n", 1)[1])
        calls = [*_edits(events, core), *_lookups(events[-1]["messages"])]
        return ChatReply(
            "" if calls else "done",
            tuple(
                ToolCall(f"call_{number}", name, json.dumps(arguments, ensure_ascii=False))
                for number, (name, arguments) in enumerate(calls)
            ),
        )


_Call = tuple[str, dict[str, Any]]


def _edits(events: Sequence[Mapping[str, Any]], core: Mapping[str, Any]) -> Iterator[_Call]:
    blocks = {label: _Block(label, given) for label, given in core.items()}
    passages: list[str] = []
    for message in events[-1]["messages"]:
        block = blocks["persona" if message["role"] == "assistant" else "human"]
        for speaker, sentence in _sentences(message["text"]):
            kind = next((kind for kind, each in _PATTERNS.items() if each.search(sentence)), None)
            if kind is not None and len(sentence) <= _LONGEST:
                yield from block.learn(kind, speaker, sentence)
            elif _CONCRETE.search(sentence):
                passages.append(sentence)
    if any(event["type"] == "system_alert" for event in events):
        for event in events:
            if event["type"] == "earlier_messages":
                # What is about to leave the context: how each message begins.
                begun = (next(_sentences(each["text"]), None) for each in event["messages"])
                passages += [first[1] for first in begun if first]
    fitting = (each for each in passages if _SHORTEST <= len(each) <= _LONGEST)
    for passage in list(dict.fromkeys(fitting))[:_MOST]:
        yield "archival_memory_insert", {"content": passage}


def _lookups(messages: Sequence[Mapping[str, Any]]) -> Iterator[_Call]:
    for message in messages:
        if _BACK.search(message["text"]):
            query = {"query": message["text"][:_LONGEST], "request_heartbeat": True}
            yield "conversation_search", query
            yield "archival_memory_search", query
            return


class _Block:
    """A block of core memory, as it will be after the calls made so far."""

    def __init__(self, label: str, given: Mapping[str, Any]) -> None:
        self._label = label
        self._limit: int = given["limit"]
        self._lines: list[str] = given["text"].splitlines()

    def learn(self, kind: str, speaker: str, fact: str) -> Iterator[_Call]:
        """Add a fact, in place of the same person's last one if there can be only one."""
        if fact in self._lines:
            return
        if kind in _ONE_OF_A_KIND:
            pattern = _PATTERNS[kind]
            for line in self._lines:
                if pattern.search(line) and line.startswith(speaker):
                    yield self._replace(line, fact)
                    return
        while self._lines and len("\n".join([*self._lines, fact])) > self._limit:
            oldest = self._lines[0]
            yield "archival_memory_insert", {"content": oldest}
            yield self._replace(oldest, "")
        self._lines.append(fact)
        yield "core_memory_append", {"label": self._label, "content": fact}

    def _replace(self, old: str, new: str) -> _Call:
        place = self._lines.index(old)
        self._lines[place : place + 1] = [new] if new else []
        arguments = {"label": self._label, "old_content": old, "new_content": new}
        return "core_memory_replace", arguments


def _sentences(text: str) -> Iterator[tuple[str, str]]:
    """Statements, each as it stands in the text, with the speaker's name that opens it."""
    named = _SPEAKER.match(text)
    speaker = named.group() if named else ""
    for match in _SENTENCE.finditer(text):
        sentence = match.group().strip()
        if sentence and not sentence.endswith(("?", "？")):
            yield speaker if sentence.startswith(speaker) else "", sentence


def _summary(given: Mapping[str, Any]) -> str:
    """The last summary and the first clause of each message; the oldest goes first."""
    clauses = [
        re.split(r"[.!?。！？\n]", each["text"], maxsplit=1)[0] for each in given["messages"]
    ]
    lines = [given["summary"], *(clause[:_CLAUSE].strip() for clause in clauses)]
    return "\n".join(line for line in lines if line)[-_SUMMARY:]
