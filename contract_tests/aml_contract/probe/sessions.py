"""Sessions: a life put into words, period by period, with much beside it that changes nothing."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Literal

from aml_contract.probe.language import Language
from aml_contract.probe.lives import Change, Life, Parameters, stream
from aml_contract.probe.names import Inventor, Kind, Name

Subject = Literal["value", "reference", "other", "temporary", "plan", "talk"]

START = datetime(2031, 1, 1, tzinfo=UTC)
"""When lives begin: far from now, so that a time of ingestion is told from that of an event."""
PERIOD = timedelta(days=90)
_TALKED = timedelta(days=80)
"""The part of a period in which sessions are."""
_PAUSE = timedelta(seconds=40)

_PARTS: dict[Subject, tuple[float, float]] = {
    "value": (0.0, 0.7),
    "temporary": (0.0, 0.5),
    "reference": (0.75, 1.0),
    "other": (0.0, 1.0),
    "plan": (0.0, 1.0),
    "talk": (0.0, 1.0),
}
"""In which part of a period each is said: references after the change, exceptions end in it."""

_DISTRACTORS: dict[Subject, Kind] = {"other": "other", "temporary": "temporary", "plan": "plan"}


@dataclass(frozen=True)
class Message:
    """One turn; ``timestamp`` in Unix milliseconds."""

    role: Literal["user", "assistant"]
    content: str
    timestamp: int


@dataclass(frozen=True)
class Session:
    """A short talk; ``sentence`` is the one that ``name`` is said in, if there is one."""

    period: int
    subject: Subject
    messages: tuple[Message, ...]
    sentence: str = ""
    name: Name | None = None
    change: Change | None = None


@dataclass(frozen=True)
class _Draft:
    subject: Subject
    slot: int = 0
    change: Change | None = None


class Writer:
    """Writes the sessions of one life.

    Args:
        life: what happens.
        language: what it is told in.
        inventor: makes names.
        seed: chooses words and order.
        parameters: how much of everything there is.
    """

    def __init__(
        self,
        life: Life,
        language: Language,
        inventor: Inventor,
        seed: int,
        parameters: Parameters,
    ) -> None:
        self._life = life
        self._language = language
        self._inventor = inventor
        self._parameters = parameters
        self._chance = stream(seed, "words", life.user)
        self.names: list[Name] = [
            Name(inventor.word(), life.user, slot, "value", value)
            for slot in range(parameters.slots)
            for value in range(parameters.values)
        ]
        """All names of this life; grows while sessions are written."""

    def write(self) -> tuple[tuple[Session, ...], ...]:
        """The sessions of every period, in the order in which they are held."""
        return tuple(
            tuple(self._period(period, changes))
            for period, changes in enumerate(self._life.changes)
        )

    def _period(self, period: int, changes: Iterable[Change]) -> Iterator[Session]:
        drafts = list(self._drafts(period, changes))
        keys = [self._chance.uniform(*_PARTS[draft.subject]) for draft in drafts]
        ordered = sorted(zip(keys, range(len(drafts)), strict=True))
        for place, (_, number) in enumerate(ordered):
            at = START + period * PERIOD + _TALKED * (place / len(drafts))
            yield self._session(drafts[number], period, at.replace(microsecond=0))

    def _drafts(self, period: int, changes: Iterable[Change]) -> Iterator[_Draft]:
        told = 0
        for change in changes:
            told += 1
            yield _Draft("value", change.slot, change)
            if change.old is not None and self._chance.random() < self._parameters.references:
                yield _Draft("reference", change.slot, change)
        if period:
            kinds: tuple[Kind, ...] = ("other", "temporary", "plan")
            for kind in kinds:
                for _ in range(self._parameters.distractors):
                    yield _Draft(kind, self._chance.randrange(self._parameters.slots))
        for _ in range(told * self._parameters.filler):
            yield _Draft("talk")

    def _session(self, draft: _Draft, period: int, at: datetime) -> Session:
        sentence, name = self._said(draft, period)
        talk = self._language.talk.sentence(self._chance)
        spoken = [talk, sentence] if self._chance.random() < 0.5 else [sentence, talk]
        millis = round(at.timestamp() * 1000)
        later = millis + round(_PAUSE.total_seconds() * 1000)
        answer = self._chance.choice(self._language.answers)
        messages = (
            Message("user", " ".join(filter(None, spoken)), millis),
            Message("assistant", answer, later),
        )
        change = draft.change if draft.subject == "value" else None
        return Session(period, draft.subject, messages, sentence, name, change)

    def _said(self, draft: _Draft, period: int) -> tuple[str, Name | None]:
        """The sentence with a name in it, and that name; none of small talk."""
        language, slot = self._language, self._language.slots[draft.slot]
        if draft.subject == "talk":
            return "", None
        if draft.subject == "value" and draft.change:
            name = self.name(draft.slot, draft.change.value)
            return self._told(draft.change, name), name
        if draft.subject == "reference" and draft.change and draft.change.old is not None:
            name = self.name(draft.slot, draft.change.old)
            return self._form(language.reference, name=slot.name, old=name.word), name
        kind, forms = _DISTRACTORS[draft.subject], getattr(language, draft.subject)
        name = Name(self._inventor.word(), self._life.user, draft.slot, kind)
        self.names.append(name)
        end = language.on(START + period * PERIOD + _TALKED * 0.7)
        return self._form(forms, name=slot.name, value=name.word, end=end), name

    def _told(self, change: Change, name: Name) -> str:
        slot, tier = self._language.slots[change.slot], self._chance.random()
        if tier < self._parameters.indirect:
            return slot.scene.format(value=name.word)
        if change.old is not None and tier < self._parameters.indirect + self._parameters.switches:
            old = self.name(change.slot, change.old).word
            return self._form(self._language.switch, name=slot.name, value=name.word, old=old)
        return self._form(self._language.explicit, name=slot.name, value=name.word)

    def name(self, slot: int, value: int) -> Name:
        """The name of a value."""
        return self.names[slot * self._parameters.values + value]

    def _form(self, forms: tuple[str, ...], **words: str) -> str:
        return self._chance.choice(forms).format(**words)
