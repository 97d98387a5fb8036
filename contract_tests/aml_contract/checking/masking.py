"""Masking: what of a stranger's answer a report may show (decision 17).

A store that is checked may hold what real people said. Of an answer a report therefore
shows what the rule itself sent, in sequences of at least three words; JSON's own signs,
numbers and the contract's names; and the opaque ids of machines. Anything else is replaced
by its kind and its length, ``⟨text, 87 characters, #3fa2⟩``: equal texts have equal marks,
so that an item that comes twice can still be seen. In errors technical words stay too.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property
from typing import Any

from aml_contract.checking.vocabulary import is_technical
from aml_contract.endpoint.auth import PLACEHOLDER
from aml_contract.exchange import Exchange

_SPAN = 3
"""Words in sequence that must have been sent for them to be shown."""
_REPLIES = 20
"""Latest answers of a rule whose masked texts are looked for in its messages."""
_MOST_INDEXED = 500_000
"""Characters of a rule's requests that are known again."""
_MOST_OF_ONE = 65_536
MOST_READ = 32_000
"""Bytes of a body that are looked at."""

_CJK = "\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\U00020000-\U0003ffff"
_TOKEN = re.compile(rf"[{_CJK}]|[^\W{_CJK}]+|[^\w\s]")
_PIECE = re.compile(r'"(?:[^"\\]|\\.)*(?:"|\\?\Z)', re.DOTALL)
"""A JSON string, the last one perhaps cut short."""
_NUMBER = re.compile(r"[-+]?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?")
_TIME = re.compile(r"\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:?\d\d)?)?")
_MACHINE_ID = re.compile(
    r"(?P<kind>[A-Za-z]{0,10})[_:-]?\d{1,6}|"
    r"(?:[A-Za-z]{1,8}[_:-])?(?=[0-9a-f-]*[a-f])(?=[0-9a-f-]*\d)[0-9a-f]{8,}(?:-[0-9a-f]+)*"
)
_JSON_WORDS = frozenset({"true", "false", "null", "nan", "infinity"})
_LONGEST_NUMBER = 6
"""Digits; longer ones might be somebody's telephone."""
_PLAIN_HEADERS = frozenset(
    {
        *("accept-ranges", "allow", "cache-control", "connection", "content-encoding"),
        *("content-length", "content-type", "date", "keep-alive", "retry-after", "server"),
        *("transfer-encoding", "vary", "via", "www-authenticate", "x-powered-by"),
    }
)
_KEY = PLACEHOLDER.lstrip("$").casefold()

Words = tuple[str, ...]


class Mask:
    """Decides what of the answers to one rule is shown; see the module's beginning.

    Args:
        made: the rule's exchanges, those that will be shown first.
        salt: makes the marks of equal texts those of one run.
        redact: takes the key out of a text; it goes before anything is cut.
        off: show everything but the key (``--show-replies``).
    """

    def __init__(
        self,
        made: Sequence[Exchange],
        salt: str = "",
        redact: Callable[[str], str] = str,
        *,
        off: bool = False,
    ) -> None:
        self._made = made
        self._salt = salt
        self._redact = redact
        self._off = off
        self._hidden: set[Words] = set()
        """What was masked, as sequences of words: messages must not repeat it."""

    def reply(self, exchange: Exchange) -> str:
        """The beginning of an answer, masked."""
        text = self._redact(beginning(exchange.reply))
        if self._off:
            return text
        lenient = exchange.status != 200 or exchange.operation == "health"
        return self._document(text, lenient=lenient)

    def headers(self, exchange: Exchange) -> dict[str, str]:
        """The answer's headers; values of those that nobody knows are masked."""
        shown = {name: self._redact(value) for name, value in exchange.reply_headers.items()}
        if self._off:
            return shown
        return {
            name: value if name in _PLAIN_HEADERS else self._text(value, lenient=True)
            for name, value in shown.items()
        }

    def message(self, text: str) -> str:
        """A sentence of the kit, without what it repeats of masked answers."""
        if self._off or not text:
            return text
        hidden = self._all_hidden
        tokens = list(_TOKEN.finditer(text))
        words = [token[0].casefold() for token in tokens]
        shown = [True] * len(tokens)
        for size in range(1, _SPAN + 1):
            for start in range(len(words) - size + 1):
                if tuple(words[start : start + size]) in hidden:
                    shown[start : start + size] = [False] * size
        # A quotation that was cut leaves half a word beside what is masked.
        for number, word in enumerate(words):
            beside = shown[max(0, number - 1) : number + 2]
            if not all(beside) and not _harmless(tokens[number][0]):
                shown[number] = shown[number] and word in self._sent[1]
        return _joined(text, tokens, shown)

    # -- what was sent -----------------------------------------------------------------

    @cached_property
    def _sent(self) -> dict[int, set[Any]]:
        """The sequences of one, two and three words that the rule sent."""
        known: dict[int, set[Any]] = {size: set() for size in range(1, _SPAN + 1)}
        left = _MOST_INDEXED
        for text in self._texts_sent():
            if left <= 0:
                break
            left -= len(text)
            words = [token.casefold() for token in _TOKEN.findall(text[:_MOST_OF_ONE])]
            for word in words:
                known[1].add(word)
            for size in range(2, _SPAN + 1):
                known[size].update(zip(*(words[n:] for n in range(size)), strict=False))
        return known

    def _texts_sent(self) -> Iterator[str]:
        for made in self._made:
            yield made.url
            try:
                yield from _strings(json.loads(made.body))
            except (ValueError, RecursionError):
                yield made.body[:_MOST_OF_ONE].decode(errors="replace")

    @cached_property
    def _all_hidden(self) -> set[Words]:
        for made in self._made[:_REPLIES]:
            self.reply(made)
            self.headers(made)
        return self._hidden

    # -- texts -------------------------------------------------------------------------

    def _document(self, text: str, *, lenient: bool) -> str:
        """A whole body: JSON's strings one by one, and what stands between them."""
        parts, reached = [], 0
        for piece in _PIECE.finditer(text):
            parts.append(self._between(text[reached : piece.start()], lenient=lenient))
            key = text[piece.end() :].lstrip()[:1] == ":"
            parts.append(self._literal(piece[0], key=key, lenient=lenient))
            reached = piece.end()
        parts.append(self._between(text[reached:], lenient=lenient))
        return "".join(parts)

    def _between(self, text: str, *, lenient: bool) -> str:
        """What stands outside of strings: signs, numbers and the words of JSON, or no JSON."""
        words = [token.casefold() for token in _TOKEN.findall(_NUMBER.sub("", text))]
        if all(not word[0].isalnum() or word in _JSON_WORDS for word in words):
            return _NUMBER.sub(lambda number: self._number(number[0]), text)
        tokens = list(_TOKEN.finditer(text))
        sent = self._were_sent([token[0].casefold() for token in tokens])
        shown = [
            known
            or (_harmless(token[0]) if lenient else not token[0].isalnum())
            or token[0].casefold() in _JSON_WORDS
            for known, token in zip(sent, tokens, strict=True)
        ]
        return self._masked(text, tokens, shown)

    def _number(self, number: str) -> str:
        whole = re.split(r"[.eE]", number.lstrip("+-"))[0]
        plain = len(whole) <= _LONGEST_NUMBER or whole in self._sent[1]
        return number if plain else f"⟨{len(whole)} digits⟩"

    def _literal(self, literal: str, *, key: bool, lenient: bool) -> str:
        try:
            value = json.loads(literal)
        except ValueError:
            value = literal.strip('"')
        if key and is_technical(value):
            return literal
        shown = self._text(value, lenient=lenient)
        return literal if shown == value else json.dumps(shown, ensure_ascii=False)

    def _text(self, text: str, *, lenient: bool) -> str:
        """One text of an answer, its strange parts masked."""
        if _TIME.fullmatch(text) or _is_machine_id(text):
            return text
        tokens = list(_TOKEN.finditer(text))
        if not tokens:
            return text
        words = [token[0].casefold() for token in tokens]
        shown = self._were_sent(words)
        if lenient:
            shown = [sent or _harmless(t[0]) for sent, t in zip(shown, tokens, strict=True)]
        if not any(shown):
            self._hide(tuple(words))
            mark = hashlib.blake2s(f"{self._salt}{text}".encode(errors="replace")).hexdigest()[:4]
            return f"⟨text, {_characters(len(text))}, #{mark}⟩"
        return self._masked(text, tokens, shown)

    def _masked(self, text: str, tokens: Sequence[re.Match[str]], shown: Sequence[bool]) -> str:
        """``text`` without the tokens that are not shown, which are kept in mind."""
        for run in _runs([token[0].casefold() for token in tokens], shown):
            self._hide(run)
        return _joined(text, tokens, shown)

    def _were_sent(self, words: Sequence[str]) -> list[bool]:
        """Which words are part of a sequence that the rule sent; the key's place is known."""
        size = min(_SPAN, len(words))
        sent = [word == _KEY for word in words]
        for start in range(len(words) - size + 1):
            part = words[start] if size == 1 else tuple(words[start : start + size])
            if part in self._sent[size]:
                sent[start : start + size] = [True] * size
        for number, word in enumerate(words[1:]):
            sent[number] = sent[number] or (word == _KEY and words[number] == "$")
        return sent

    def _hide(self, words: Words) -> None:
        if len(words) < _SPAN:
            strange = [w for w in words if w not in self._sent[1] and not _harmless(w)]
            if any(len(word) > 2 for word in strange):  # of letters every sentence has some
                self._hidden.add(words)
            return
        for start in range(len(words) - _SPAN + 1):
            self._hidden.add(words[start : start + _SPAN])


def beginning(body: bytes) -> str:
    """The first of a body as text."""
    return body[:MOST_READ].decode(errors="replace")


def _is_machine_id(text: str) -> bool:
    """Whether a text is what stores call things: ``17``, ``mem_17``, a UUID, hexadecimal."""
    found = _MACHINE_ID.fullmatch(text)
    kind = found and found["kind"]
    return found is not None and (not kind or len(kind) == 1 or is_technical(kind))


def _harmless(word: str) -> bool:
    """Punctuation, a short number, or a technical word."""
    if not word[0].isalnum():
        return True
    return len(word) <= _LONGEST_NUMBER if word.isdigit() else is_technical(word)


def _strings(value: Any) -> Iterator[str]:
    """Every text of a JSON value, names included."""
    waiting = [value]
    while waiting:
        match waiting.pop():
            case str() as text:
                yield text
            case dict() as members:
                waiting += [*members.keys(), *members.values()]
            case list() as items:
                waiting += items
            case bool() | None:
                pass
            case number:
                yield str(number)


def _runs(words: Sequence[str], shown: Iterable[bool]) -> Iterator[Words]:
    """The masked sequences."""
    run: list[str] = []
    for word, is_shown in zip(words, shown, strict=True):
        if is_shown:
            if run:
                yield tuple(run)
            run = []
        else:
            run.append(word)
    if run:
        yield tuple(run)


def _joined(text: str, tokens: Sequence[re.Match[str]], shown: Sequence[bool]) -> str:
    """``text`` with every run of masked tokens replaced by its length."""
    parts, reached, number = [], 0, 0
    while number < len(tokens):
        if shown[number]:
            number += 1
            continue
        last = number
        while last + 1 < len(tokens) and not shown[last + 1]:
            last += 1
        start, end = tokens[number].start(), tokens[last].end()
        parts += [
            text[reached:start],
            f"⟨{end - start} character{'s' if end - start != 1 else ''}⟩",
        ]
        reached, number = end, last + 1
    return "".join([*parts, text[reached:]])


def _characters(count: int) -> str:
    return f"{count} character{'s' if count != 1 else ''}"
