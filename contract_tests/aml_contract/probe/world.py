"""A world: the users of a probe, what they say, and what is asked of them.

It is a function of the seed, the parameters and the language; the run only chooses the names, so
that runs on one store do not meet. More users do not change those before them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from aml_contract.probe.language import language
from aml_contract.probe.lives import Life, Parameters, live
from aml_contract.probe.names import Inventor, Name, Register
from aml_contract.probe.sessions import Session, Writer

Mode = Literal["direct", "advice", "joint"]
"""How questions are put: one slot by its name, by advice that depends on it, two by their names."""
MODES: tuple[Mode, ...] = ("direct", "advice", "joint")


@dataclass(frozen=True)
class Question:
    """One Search: its text, and the slots that it is about."""

    mode: Mode
    text: str
    slots: tuple[int, ...]


@dataclass(frozen=True)
class User:
    """One user: a life, its sessions by period, and the names of its values."""

    number: int
    life: Life
    sessions: tuple[tuple[Session, ...], ...]
    names: tuple[Name, ...]
    """The names of slot 0, then those of slot 1, …; after these, names that are no values."""
    values: int
    """Values of each slot."""

    def name(self, slot: int, value: int) -> Name:
        """The name of a value."""
        return self.names[slot * self.values + value]

    def current(self, period: int, slot: int) -> int:
        """The value that a slot has at the end of a period."""
        return self.life.states[period][slot]

    def tenure(self, period: int, slot: int) -> range:
        """The periods around this one at whose ends the slot has the same value."""
        first = self.evidence(period, slot).period
        last = period
        while last + 1 < len(self.sessions) and self.evidence(last + 1, slot).period == first:
            last += 1
        return range(first, last + 1)

    def evidence(self, period: int, slot: int) -> Session:
        """The session, up to the end of a period, that told the value a slot has then."""
        return next(
            session
            for told in reversed(self.sessions[: period + 1])
            for session in told
            if session.change and session.change.slot == slot
        )


class World:
    """All users of a probe.

    Args:
        seed: chooses everything but the names.
        run: salts the names.
        parameters: how much of everything there is.
        code: a language, one of :data:`aml_contract.probe.language.LANGUAGES`.
    """

    def __init__(
        self, seed: int, run: str, parameters: Parameters | None = None, code: str = "en"
    ) -> None:
        self.seed, self.run, self.code = seed, run, code
        self.parameters = parameters or Parameters()
        self.language = language(code)
        taken: set[str] = set()
        self.users = [self._user(number, taken) for number in range(self.parameters.users)]
        self.register = Register((name for user in self.users for name in user.names), code)

    def _user(self, number: int, taken: set[str]) -> User:
        life = live(self.seed, number, self.parameters)
        inventor = Inventor(self.seed, self.run, number, self.code, taken)
        writer = Writer(life, self.language, inventor, self.seed, self.parameters)
        sessions = writer.write()
        return User(number, life, sessions, tuple(writer.names), self.parameters.values)

    def questions(self, user: User, modes: Sequence[Mode]) -> list[Question]:
        """What is asked about a user at the end of each period: every slot once in each mode."""
        slots, made = self.language.slots, []
        for first, second in user.life.pairs:
            for slot in (first, second):
                if "direct" in modes:
                    text = self.language.direct.format(name=slots[slot].name)
                    made.append(Question("direct", text, (slot,)))
                if "advice" in modes:
                    made.append(Question("advice", slots[slot].advice, (slot,)))
            if "joint" in modes:
                names = {"first": slots[first].name, "second": slots[second].name}
                made.append(Question("joint", self.language.joint.format(**names), (first, second)))
        return made
