"""A chat model that works, for memories that are judged with one: it notes what it is told."""

import json
import re

from tests.providers.fake_openai import call, error, say

_NEW = re.compile(r"## New Messages\n(.*?)(?=\n## |\Z)", re.DOTALL)
_ROLE = re.compile(r"^\w+: ")
_LEAST = 4
"""Words of a message that is worth a note: what is shorter would be noted as it stands."""


def takes_notes(body):
    """Answers as Mem0 and the agent of MemGPT ask: a fact, or a passage, of each message."""
    if "tools" in body:
        return _passages(body["messages"])(body)
    asked = body["messages"][-1]["content"]
    if new := _NEW.search(asked):
        said = (_ROLE.sub("", line) for line in new[1].splitlines())
        facts = [{"text": note, "attributed_to": "user"} for note in _notes(said)]
        return say(json.dumps({"memory": facts}))(body)
    return say("They talked.")(body)


def away_while(provider, file):
    """Let a provider answer 503 as long as the file is there."""

    def answer(body):
        return error(503)(body) if file.exists() else provider.usual(body)

    provider.mode = answer


def _passages(messages):
    if messages[-1]["role"] == "tool":
        return say("done")
    told = next(
        event
        for event in (json.loads(each["content"]) for each in reversed(messages[1:]))
        if event["type"] == "new_messages"
    )
    notes = _notes(each["text"] for each in told["messages"])
    calls = [word for note in notes for word in ("archival_memory_insert", {"content": note})]
    return call(*calls) if calls else say("done")


def _notes(texts):
    """Every other word: about what was said, and nowhere word for word in it."""
    words = [text.split() for text in texts]
    return [" ".join(each[::2])[:500] for each in words if len(each) >= _LEAST]
