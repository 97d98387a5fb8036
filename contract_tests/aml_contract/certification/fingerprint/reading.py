"""Reading answers to canaries: which of them came back, in which order and form."""

from __future__ import annotations

import hashlib
import json
import math
import operator
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from aml_contract.certification.fingerprint.canaries import Canaries
from aml_contract.certification.fingerprint.model import Asked, Aspect
from aml_contract.exchange import Exchange
from aml_contract.item import Item, items_of
from aml_contract.namespace import squeeze

_FIELDS = ("id", "content", "score", "created_at")
_DAYS = "monday tuesday wednesday thursday friday saturday sunday"
_MONTHS = (
    "january february march april may june july august september october november december "
    "jan feb mar apr jun jul aug sep sept oct nov dec mon tue wed thu fri sat sun"
)
_CLOCK = re.compile(rf"\b(?:{'|'.join(f'{_DAYS} {_MONTHS}'.split())})\b|\d+", re.IGNORECASE)
"""What a clock or a counter may have written: it says nothing of the version."""
_UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)
_SECOND = 1_000


@dataclass(frozen=True)
class Answer:
    """What one Search answered, in the order of its list."""

    places: tuple[str, ...]
    forms: tuple[str, ...]
    scores: tuple[float, ...]
    """Empty if not every item has one."""
    seen: frozenset[int]
    """The canaries that are in it."""

    @property
    def ranking(self) -> list[str]:
        """The places; those of nearly equal score sorted, as their order says nothing."""
        made: list[str] = []
        tied: list[str] = []
        for place, above, own in zip(self.places, (None, *self.scores), self.scores, strict=False):
            if above is not None and not near(above, own):
                made += sorted(tied)
                tied = []
            tied.append(place)
        return [*made, *sorted(tied)] if self.scores else list(self.places)


class Reader:
    """Reads the answers to the canaries of some users.

    Args:
        canaries: what was stored.
        ids: the user, session and request ids that were sent: an answer may show them.
    """

    def __init__(self, canaries: Canaries, ids: Iterable[str]) -> None:
        self._canaries = canaries
        self._squeezed = [squeeze(text) for text in canaries.texts]
        self._times = {c.timestamp for session in canaries.sessions for c in session}
        self._ids = sorted(ids, key=len, reverse=True)

    def read(self, exchange: Exchange) -> Answer:
        """The answer of a Search.

        Raises:
            NotTested: it has no readable ``data`` list.
        """
        items = items_of(exchange)
        shown = [self._shown(item.content) for item in items]
        forms = [self._form(item.content, at) for item, at in zip(items, shown, strict=True)]
        scores = [item.raw.get("score") for item in items]
        numbers = [float(f"{each:.5g}") for each in scores if _is_number(each)]
        return Answer(
            places=tuple(
                ",".join(map(str, at)) or form for at, form in zip(shown, forms, strict=True)
            ),
            forms=tuple(forms),
            scores=tuple(numbers) if len(numbers) == len(scores) else (),
            seen=frozenset(number for at in shown for number in at),
        )

    def shape(self, exchanges: Iterable[Exchange]) -> list[str]:
        """What the items of all these answers look like, in words that the kit chose."""
        items = [item for exchange in exchanges for item in items_of(exchange)]
        if not items:
            return []
        said = {f"{name}: {self._kind(name, item)}" for item in items for name in _FIELDS}
        said |= {
            f"another field {_digest(name)}" for item in items for name in item.raw.keys() - _FIELDS
        }
        return sorted({*said, f"id looks like {_look([item.id for item in items])}"})

    def _shown(self, content: str) -> list[int]:
        squeezed = squeeze(content)
        return [number for number, text in enumerate(self._squeezed) if text in squeezed]

    def _form(self, content: str, shown: Sequence[int]) -> str:
        texts = self._canaries.texts
        for number in shown:
            content = content.replace(texts[number], "\0")
        for each in self._ids:
            content = content.replace(each, "\1")
        return _digest(_CLOCK.sub("\2", content))

    def _kind(self, name: str, item: Item) -> str:
        value = item.raw.get(name)
        if value is None:
            return "null" if name in item.raw else "absent"
        if name == "created_at":
            return "when it was said" if self._is_source_time(value) else "another time"
        kinds = {str: "a text", list: "a list", dict: "an object", bool: "true or false"}
        return kinds.get(type(value), "a number")

    def _is_source_time(self, value: Any) -> bool:
        try:
            read = datetime.fromisoformat(value)
            milliseconds = int(read.timestamp() * 1_000)
        except (TypeError, ValueError, OverflowError):
            return False
        return any(abs(milliseconds - sent) < _SECOND for sent in self._times)


def asked_of(answers: Sequence[Answer]) -> Asked:
    """What all answers to one question have in common."""
    wavered = []

    def common(
        aspect: Aspect, values: Sequence[list[Any]], alike: Callable[..., bool] = operator.eq
    ) -> list[Any] | None:
        if all(alike(value, values[0]) for value in values):
            return values[0]
        wavered.append(aspect)
        return None

    by_place = [sorted(zip(each.places, each.forms, strict=True)) for each in answers]
    return Asked(
        found=common(Aspect.FOUND, [sorted(each.places) for each in answers]),
        ranking=common(Aspect.RANKING, [each.ranking for each in answers]),
        contents=common(Aspect.CONTENTS, [[form for _, form in pairs] for pairs in by_place]),
        scores=common(Aspect.SCORES, [list(each.scores) for each in answers], all_near),
        wavered=wavered,
    )


def near(one: float, other: float, within: float = 1e-4) -> bool:
    """Whether two scores are as good as equal: rounding differs between machines."""
    return math.isclose(one, other, rel_tol=within, abs_tol=within / 10)


def all_near(one: Sequence[float], other: Sequence[float], within: float = 1e-4) -> bool:
    """Whether each score is near the other's."""
    pairs = zip(one, other, strict=False)
    return len(one) == len(other) and all(near(*pair, within) for pair in pairs)


def structure(value: Any) -> str:
    """A digest of what JSON is made of: kinds and names, not values; lists by their kinds."""
    return _digest(json.dumps(_skeleton(value), sort_keys=True))


def _skeleton(value: Any) -> Any:
    match value:
        case dict():
            return {name: _skeleton(each) for name, each in value.items()}
        case list():
            return sorted({json.dumps(_skeleton(each), sort_keys=True) for each in value})
        case None:
            return None
        case bool():
            return "true or false"
        case int() | float():
            return "number"
    return "text"


def _look(ids: Sequence[Any]) -> str:
    texts = [each for each in ids if isinstance(each, str)]
    if len(texts) != len(ids):
        return "no text"
    if all(map(_UUID.fullmatch, texts)):
        return "a UUID"
    if all(re.fullmatch(r"\d+", each) for each in texts):
        return "a number"
    return "hexadecimal digits" if all(re.fullmatch("[0-9a-f]+", t) for t in texts) else "a name"


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _digest(text: str) -> str:
    return "#" + hashlib.sha256(text.encode(errors="surrogatepass")).hexdigest()[:8]
