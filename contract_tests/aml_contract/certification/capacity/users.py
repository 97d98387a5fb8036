"""Users that never were: what they say, cut into Adds as the platform cuts (after clause A14).

Their sessions are chats, or long answers such as assistants give; most of them in words of
Latin letters, the others in other scripts. Each Add holds one canary, a sentence that
nobody else has said and that a question finds again.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any

from aml_contract.body import dump
from aml_contract.certification.capacity.platform import EARLY, Volume
from aml_contract.namespace import Marker, Namespace
from aml_contract.smoke.chunking import (
    CHARACTERS_PER_MESSAGE,
    WORDS_PER_CHUNK,
    Message,
    chunks,
    content_of,
    count_words,
    messages_of,
)
from aml_contract.smoke.locomo import Session, Turn

_MOST_ADDS = 120
"""Adds of one user, so that all of its canaries come back with the first 100 items or so."""
_CHAT, _ANSWERS = (120, 0.6, 30), (1_400, 0.8, 8)
"""Median length of a message in characters, how much it varies (the sigma of a log-normal
distribution), and the usual turns of a session."""
_STYLES = (_CHAT, _CHAT, _CHAT, _ANSWERS)
_SCRIPTS = {
    "han": (0x4E00, 0x8FFF),
    "hiragana": (0x3041, 0x3096),
    "hangul": (0xAC00, 0xD7A3),
    "cyrillic": (0x0430, 0x044F),
    "arabic": (0x0628, 0x063A),
    "devanagari": (0x0915, 0x0939),
}
_UNSPACED = ("han", "hiragana")
_DENSE = 0.4
"""How much shorter a text without spaces says the same."""
_LATIN = 0.7
"""The share of sessions in Latin letters; of the others most are Chinese."""
_NAMES = ("Ana", "Bo", "Chiara", "Deng Wei", "Emeka", "Fatima", "小林", "Ольга")
_FIRST_DAY = datetime(2023, 1, 1, tzinfo=UTC)
_EVEN = 20, 30
"""Messages of an Add, and words of each, where sizes shall not vary."""


@dataclass(frozen=True)
class Chunk:
    """One Add, ready to be sent."""

    body: dict[str, Any]
    data: bytes
    """The body as it goes over the wire."""
    canary: Marker
    history: int
    """Adds of the same user before it."""
    asks: int | None
    """The Add of the same user, from 0, that a Search looks for as soon as this one is through;
    ``None`` if none does."""

    @property
    def user_id(self) -> str:
        """Whose it is."""
        return str(self.body["user_id"])


class Crowd:
    """Users without end; all that they say is a function of seed and salt.

    Args:
        seed: chooses texts and sizes.
        salt: unique to this measurement: no two may share ids or texts.
        scope: keeps the stages of a certification apart.
    """

    def __init__(self, seed: int, salt: str, scope: str) -> None:
        self._names = (seed, salt)
        self._scope = scope
        self._count = 0
        words = Namespace(seed, salt, scope)
        self._vocabularies: dict[str, list[str]] = {"latin": [words.word() for _ in range(3_000)]}
        for script, (first, last) in _SCRIPTS.items():
            letters = [chr(code) for code in range(first, last + 1)]
            self._vocabularies[script] = [
                "".join(words.random.choices(letters, k=3)) for _ in range(1_000)
            ]

    def next(self) -> User:
        """One more user."""
        self._count += 1
        return User(Namespace(*self._names, f"{self._scope}/{self._count}"), self._vocabularies)


class User:
    """One user, and what it says."""

    def __init__(self, names: Namespace, vocabularies: Mapping[str, Sequence[str]]) -> None:
        self._ns = names
        self._chance = names.random
        self._vocabularies = vocabularies
        self._id = names.user()

    def talk(self) -> Iterator[Chunk]:
        """Its Adds: as many as users of a Full have, of sizes as they come."""
        usual = Volume()
        more = self._chance.expovariate(1 / (usual.adds / usual.users - 1))
        adds = min(_MOST_ADDS, 1 + round(more))
        history = 0
        while history < adds:
            session_id = self._ns.session()
            session = self._session(_FIRST_DAY + timedelta(days=history))
            for messages in list(chunks(messages_of(session)))[: adds - history]:
                yield self._chunk(session_id, messages, history)
                history += 1

    def go_on(self) -> Iterator[Chunk]:
        """Adds without end, of 20 messages and about as many characters each."""
        session_id, history = self._ns.session(), 0
        messages, words = _EVEN
        while True:
            start = int((_FIRST_DAY + timedelta(days=history)).timestamp()) * 1_000
            yield self._chunk(
                session_id,
                [Message(self._text("latin", 7 * words), start + n, "") for n in range(messages)],
                history,
            )
            history += 1

    def _chunk(self, session_id: str, messages: Sequence[Message], history: int) -> Chunk:
        canary = self._ns.marker()
        body = {
            "request_id": self._ns.request(),
            "user_id": self._id,
            "session_id": session_id,
            "messages": [
                {"role": "user", "content": m.content, "timestamp": m.timestamp}
                for m in self._with(canary, messages)
            ],
        }
        # One Search for each Add comes after all Adds: so many more make 41 % of all early.
        asks = self._chance.random() < EARLY / (1 - EARLY)
        asked = self._chance.randint(0, history) if asks else None
        return Chunk(body, dump(body), canary, history, asked)

    def _with(self, canary: Marker, messages: Sequence[Message]) -> list[Message]:
        """The messages, the canary at the beginning of one that has room for it."""
        words = [count_words(message.content) for message in messages]
        room = WORDS_PER_CHUNK - sum(words) - count_words(canary.text)
        # In a chunk within the limits there is one; a single message may be over the words.
        fitting = [n for n, own in enumerate(words) if room + own >= 0] or [0]
        place = self._chance.choice(fitting)
        rest = messages[place].content[len(canary.text) + 1 :]
        whole = f"{canary.text} {rest}"
        fits = len(messages) == 1 or room + words[place] >= count_words(rest)
        text = (whole if fits else canary.text).strip()[:CHARACTERS_PER_MESSAGE]
        return [
            replace(message, content=text) if n == place else message
            for n, message in enumerate(messages)
        ]

    def _session(self, date: datetime) -> Session:
        median, spread, usual = self._chance.choice(_STYLES)
        script = "latin"
        if self._chance.random() > _LATIN:
            script = self._chance.choice(("han", "han", "han", *_SCRIPTS))
        dense = _DENSE if script in _UNSPACED else 1
        speakers = self._chance.sample(_NAMES, 2)
        turns = []
        for number in range(self._chance.randint(2, 2 * usual)):
            turn = Turn(f"D1:{number + 1}", speakers[number % 2], "")
            room = CHARACTERS_PER_MESSAGE - len(content_of(turn))
            length = int(median * dense * self._chance.lognormvariate(0, spread))
            turns.append(replace(turn, text=self._text(script, min(length, room))))
        return Session("1", date, tuple(turns))

    def _text(self, script: str, length: int) -> str:
        """So many characters of words that mean nothing; one word at least."""
        vocabulary = self._vocabularies[script]
        gap = "" if script in _UNSPACED else " "
        shortest = 5 if script == "latin" else 3
        text = gap.join(self._chance.choices(vocabulary, k=1 + length // shortest))
        return text[: max(length, 3)].strip()
