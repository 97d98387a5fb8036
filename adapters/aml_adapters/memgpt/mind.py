"""What one user's agent has in mind: core memory, the queue of messages, a summary."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any, Literal

from aml_sdk import tokens
from aml_sdk.content import event_time

LABELS = ("human", "persona")
"""The blocks of core memory: the people who are remembered, and the assistant they talk to."""
_JSON_TOKENS = 24  # what the form of one message takes beside its text


class Rejected(Exception):  # noqa: N818  what the model is told, not what went wrong here
    """A tool call that cannot be carried out; the model reads why."""


@dataclass(frozen=True)
class Said:
    """A message as the agent sees it: the beginning, if it is very long."""

    sequence: int
    role: str
    timestamp: int | None
    text: str
    tokens: int

    @classmethod
    def shown(
        cls, sequence: int, role: str, timestamp: int | None, content: str, most: int
    ) -> Said:
        """The message, cut at ``most`` tokens."""
        text = tokens.cut(content, most)
        return cls(
            sequence, role, timestamp, text, tokens.count(text) + tokens.count(role) + _JSON_TOKENS
        )

    def as_json(self) -> dict[str, Any]:
        """What stands in the prompt."""
        time = event_time(self.timestamp)
        told = {} if time is None else {"time": time.isoformat(timespec="minutes")}
        return {**told, "role": self.role, "text": self.text}


@dataclass(frozen=True)
class Note:
    """What the agent wrote: a line of core memory, or a passage of archival storage."""

    kind: Literal["core", "archival"]
    text: str
    source: int | None
    """Sequence number of the message that holds the text word for word, if one does."""
    timestamp: int | None
    """When it was said, Unix milliseconds."""
    label: str = ""
    """Of the block, in core memory."""
    sequence: int | None = None
    """Its place in the file; ``None`` until it is stored."""


class CoreMemory:
    """Blocks of lines, in every prompt, each within a limit of characters."""

    def __init__(self, notes: Iterable[Note], limit: int) -> None:
        self._limit = limit
        self._blocks: dict[str, list[Note]] = {label: [] for label in LABELS}
        for note in notes:
            self._blocks[note.label].append(note)

    @property
    def notes(self) -> list[Note]:
        """All lines, block by block."""
        return [note for block in self._blocks.values() for note in block]

    def text(self, label: str) -> str:
        """A block as the model reads it."""
        return "\n".join(note.text for note in self._blocks[label])

    def append(self, label: str, content: str, note: Callable[[str], Note]) -> None:
        """Add lines to the end of a block; ``note`` makes one of each.

        Raises:
            Rejected: they do not fit.
        """
        block = self._blocks[label]
        known = {each.text for each in block}
        self._keep(label, [*block, *(note(line) for line in _lines(content) if line not in known)])

    def replace(self, label: str, old: str, new: str, note: Callable[[str], Note]) -> None:
        """Put ``new`` where ``old`` stands first; an empty ``new`` deletes it.

        Raises:
            Rejected: ``old`` does not stand there exactly so, or the result does not fit.
        """
        text = self.text(label)
        if not old or old not in text:
            raise Rejected(f"old_content does not occur in block {label}, letter for letter")
        known = {each.text: each for each in self._blocks[label]}
        lines = dict.fromkeys(_lines(text.replace(old, new, 1)))
        self._keep(label, [known.get(line) or note(line) for line in lines])

    def as_json(self) -> dict[str, Any]:
        """What stands in the prompt."""
        return {
            label: {"characters": len(text), "limit": self._limit, "text": text}
            for label, text in ((label, self.text(label)) for label in LABELS)
        }

    def _keep(self, label: str, notes: list[Note]) -> None:
        size = len("\n".join(note.text for note in notes))
        if size > self._limit:
            raise Rejected(
                f"block {label} would hold {size} characters, and its limit is {self._limit}:"
                " replace or shorten something first, or use archival_memory_insert"
            )
        self._blocks[label] = notes


def _lines(text: str) -> list[str]:
    return [line.strip() for line in text.splitlines() if line.strip()]


@dataclass
class Mind:
    """All that a turn reads and changes; stored when the whole Add has been thought through."""

    core: CoreMemory
    queue: list[Said] = field(default_factory=list)
    """Messages in the context, oldest first."""
    summary: str = ""
    """Of the messages that have left it."""
    evicted: int = -1
    """Sequence number of the last of those."""
    warned: bool = False
    """Whether the model was told that its context fills up, since messages left it last."""
    archived: list[Note] = field(default_factory=list)
    """Passages written since the mind was read."""
