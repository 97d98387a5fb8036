"""LoCoMo conversations: two people, dated sessions, and questions with their evidence.

Two shapes of file are read: ours, one object with ``sessions[].date_time`` and
``sessions[].turns[]``; and the published one, a list of objects (or one) whose
``conversation`` holds ``session_1``, ``session_1_date_time`` and so on. Both have
``qa[]`` with ``question``, ``evidence`` and ``category``.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

CATEGORIES = {
    1: "multi-hop",
    2: "temporal",
    3: "open-domain",
    4: "single-hop",
    5: "adversarial",
}
DATE_FORMAT = "%I:%M %p on %d %B, %Y"
"""``1:56 pm on 8 May, 2023``."""

_MONTHS = [
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
]
_JSON_NAMES: dict[type, str] = {str: "a string", list: "a list", dict: "an object"}
_DATE = re.compile(r"(\d{1,2}):(\d{2}) ?([ap])m on (\d{1,2}) ([a-z]+),? (\d{4})")
_DIALOGUE_ID = re.compile(r"D:?(\d{1,9}):(\d{1,9})(?!\d)")
_SESSION_KEY = re.compile(r"session_(\d+)")


class MalformedFileError(ValueError):
    """The file holds no conversation that can be read; says where and why."""


@dataclass(frozen=True)
class Turn:
    """One utterance, perhaps with a shared picture."""

    id: str
    speaker: str
    text: str
    caption: str | None = None

    @property
    def needle(self) -> str:
        """What must come back for the turn to count as found."""
        return self.text or self.caption or ""


@dataclass(frozen=True)
class Session:
    """Turns that were spoken together, and when the first was, in UTC."""

    name: str
    date: datetime
    turns: tuple[Turn, ...]


@dataclass(frozen=True)
class Question:
    """A question and the ids of the turns that answer it."""

    text: str
    category: int
    evidence: tuple[str, ...]
    answer: str = ""
    """The right answer; empty if the file has none, or nothing answers it."""
    trap: str = ""
    """The wrong answer that suggests itself, where nothing answers it (adversarial)."""


@dataclass(frozen=True)
class Conversation:
    """One conversation: one user of the memory.

    ``without_evidence`` counts the questions that were left out because they name no
    turn; ``unknown_evidence`` the evidence ids that point at no turn.
    """

    name: str
    sessions: tuple[Session, ...]
    questions: tuple[Question, ...]
    without_evidence: int
    unknown_evidence: int

    @property
    def turns(self) -> Iterator[Turn]:
        """Every turn, in order."""
        return (turn for session in self.sessions for turn in session.turns)


def load(paths: Iterable[Path]) -> list[Conversation]:
    """Read conversations from files, and from every ``*.json`` of directories.

    Raises:
        MalformedFileError: a file is missing, no JSON, or no conversation.
    """
    made: list[Conversation] = []
    for path in paths:
        files = sorted(path.glob("*.json")) if path.is_dir() else [path]
        if not files:
            raise MalformedFileError(f"{path}: the directory holds no .json file")
        for file in files:
            made.extend(read(file))
    return made


def shipped() -> Path:
    """The small conversation that comes with the kit; written for it, in English and Chinese."""
    return Path(__file__).parent / "data" / "lanterns.json"


def read(path: Path) -> list[Conversation]:
    """Read the conversations of one file.

    Raises:
        MalformedFileError: with the file, the place in it and the reason.
    """
    try:
        data = json.loads(path.read_text(encoding="utf-8-sig"))
        # What cannot be sent must not look like an endpoint that refuses it.
        json.dumps(data, ensure_ascii=False).encode()
    except OSError as error:
        raise MalformedFileError(f"{path}: {error.strerror}") from error
    except UnicodeEncodeError as error:
        raise MalformedFileError(f"{path}: a string holds a lone surrogate") from error
    except ValueError as error:
        raise MalformedFileError(f"{path}: no JSON: {error}") from error
    except RecursionError as error:
        raise MalformedFileError(f"{path}: nested too deeply") from error
    samples = data if isinstance(data, list) else [data]
    if not samples:
        raise MalformedFileError(f"{path}: an empty list, no conversation")
    return [
        _conversation(sample, f"{path.stem}-{number}" if number else path.stem, str(path))
        for number, sample in enumerate(samples)
    ]


def parse_date(text: str) -> datetime:
    """Read ``1:56 pm on 8 May, 2023`` as UTC, in any locale.

    Raises:
        ValueError: another form, or no such date.
    """
    match = _DATE.fullmatch(text.strip().lower())
    if not match:
        raise ValueError(f"a date like '1:56 pm on 8 May, 2023' was expected, not {text!r}")
    hour, minute, half, day, month, year = match.groups()
    if not 1 <= int(hour) <= 12 or month not in _MONTHS:
        raise ValueError(f"no such date: {text!r}")
    if int(year) < 1970:
        raise ValueError(f"{text!r} is before 1970: no timestamp can say so (clause A7)")
    try:
        return datetime(
            int(year),
            _MONTHS.index(month) + 1,
            int(day),
            int(hour) % 12 + (12 if half == "p" else 0),
            int(minute),
            tzinfo=UTC,
        )
    except ValueError as error:
        raise ValueError(f"no such date: {text!r} ({error})") from error


def evidence_ids(strings: Iterable[str]) -> list[str]:
    """Turn ids in evidence strings, some of which hold several or are misspelt.

    ``["D8:6; D9:17", "D:11:26", "D4:05", "D"]`` gives ``D8:6``, ``D9:17``, ``D11:26``, ``D4:5``.
    """
    found = (match for text in strings for match in _DIALOGUE_ID.finditer(text))
    return list(dict.fromkeys(f"D{int(m[1])}:{int(m[2])}" for m in found))


def _conversation(sample: Any, default_name: str, where: str) -> Conversation:
    if not isinstance(sample, dict):
        raise MalformedFileError(f"{where}: a conversation must be an object")
    name = sample.get("sample_id", default_name)
    if not isinstance(name, str) or not name:
        raise MalformedFileError(f"{where}: sample_id must be a non-empty string")
    sessions = tuple(
        _session(raw, number, f"{where}: session {number}")
        for number, raw in enumerate(_raw_sessions(sample, where), 1)
    )
    if not any(session.turns for session in sessions):
        raise MalformedFileError(f"{where}: no turns")
    known = {turn.id for session in sessions for turn in session.turns if turn.needle.strip()}
    raw_questions = _field(sample, "qa", list, where)
    questions, without, unknown = [], 0, 0
    for number, raw in enumerate(raw_questions, 1):
        question, lost = _question(raw, known, f"{where}: qa {number}")
        unknown += lost
        if question.evidence:
            questions.append(question)
        else:
            without += 1
    return Conversation(name, sessions, tuple(questions), without, unknown)


def _raw_sessions(sample: Mapping[str, Any], where: str) -> list[Any]:
    """The sessions in our shape, whichever shape the file has."""
    if "conversation" not in sample:
        return list(_field(sample, "sessions", list, where))
    published = _field(sample, "conversation", dict, where)
    numbers = sorted(int(m[1]) for key in published if (m := _SESSION_KEY.fullmatch(key)))
    return [
        {
            "session": number,
            "date_time": published.get(f"session_{number}_date_time"),
            "turns": published[f"session_{number}"],
        }
        for number in numbers
    ]


def _session(raw: Any, number: int, where: str) -> Session:
    if not isinstance(raw, dict):
        raise MalformedFileError(f"{where}: a session must be an object")
    try:
        date = parse_date(_field(raw, "date_time", str, where))
    except MalformedFileError:
        raise
    except ValueError as error:
        raise MalformedFileError(f"{where}: {error}") from error
    turns = _field(raw, "turns", list, where)
    return Session(
        name=str(raw.get("session", number)),
        date=date,
        turns=tuple(_turn(turn, f"{where}, turn {n}") for n, turn in enumerate(turns, 1)),
    )


def _turn(raw: Any, where: str) -> Turn:
    if not isinstance(raw, dict):
        raise MalformedFileError(f"{where}: a turn must be an object")
    ids = evidence_ids([_field(raw, "dia_id", str, where)])
    if len(ids) != 1:
        raise MalformedFileError(f"{where}: dia_id must look like 'D1:3', not {raw['dia_id']!r}")
    caption = raw.get("blip_caption")
    if caption is not None and not isinstance(caption, str):
        raise MalformedFileError(f"{where}: blip_caption must be a string")
    return Turn(
        id=ids[0],
        speaker=_field(raw, "speaker", str, where),
        text=_field(raw, "text", str, where),
        caption=caption or None,
    )


def _question(raw: Any, known: set[str], where: str) -> tuple[Question, int]:
    """The question with the evidence that exists, and how many ids point nowhere."""
    if not isinstance(raw, dict):
        raise MalformedFileError(f"{where}: a question must be an object")
    category = raw.get("category")
    if type(category) not in {int, float} or category not in CATEGORIES:
        raise MalformedFileError(f"{where}: category must be 1 to 5, not {category!r}")
    strings = raw.get("evidence", [])
    if not isinstance(strings, list) or not all(isinstance(text, str) for text in strings):
        raise MalformedFileError(f"{where}: evidence must be a list of strings")
    text = _field(raw, "question", str, where)
    if not text.strip():
        raise MalformedFileError(f"{where}: the question is blank")
    ids = evidence_ids(strings)
    evidence = tuple(name for name in ids if name in known)
    answer, trap = (_words(raw.get(key)) for key in ("answer", "adversarial_answer"))
    if CATEGORIES[category] == "adversarial":
        answer = ""
    return Question(text, category, evidence, answer, trap), len(ids) - len(evidence)


def _words(answer: Any) -> str:
    """An answer as text; the published files hold years as numbers."""
    if isinstance(answer, bool) or not isinstance(answer, str | int | float):
        return ""
    return str(answer).strip()


def _field(raw: Mapping[str, Any], key: str, kind: type, where: str) -> Any:
    value = raw.get(key)
    if not isinstance(value, kind):
        found = "missing" if value is None else f"not {type(value).__name__}"
        raise MalformedFileError(f"{where}: {key} must be {_JSON_NAMES[kind]} ({found})")
    return value
