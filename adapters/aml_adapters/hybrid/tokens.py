"""Text to search terms: words of every script, code identifiers, emoji.

The same function reads stored texts and queries, so whatever a text contains finds it.
There is no query language: quotes, operators and wildcards are punctuation.
"""

from __future__ import annotations

import re
import threading
import unicodedata
from collections.abc import Iterable, Iterator
from datetime import date
from functools import lru_cache
from importlib.metadata import version

import snowballstemmer

# Scripts written without spaces, and Hangul, whose particles stick to the words.
_UNSPACED = (
    "\u0e00-\u0eff"  # Thai, Lao
    "\u1000-\u109f\u1780-\u17ff"  # Myanmar, Khmer
    "\u3005-\u3007\u3040-\u30ff\u31f0-\u31ff"  # Japanese
    "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"  # Han
    "\u1100-\u11ff\u3130-\u318f\uac00-\ud7af"  # Hangul
)
# Marks that stand inside words but that `\w` leaves out.
_MARKS = (
    "\u0300-\u036f\u0483-\u0487\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7"
    "\u0610-\u061a\u064b-\u065f\u0670\u06d6-\u06dc\u06df-\u06e4\u06e7\u06e8\u06ea-\u06ed"
    "\u0900-\u0903\u093a-\u094f\u0951-\u0957\u0962\u0963\u0981-\u0983\u09bc-\u09d7"
    "\u0a01-\u0a03\u0a3c-\u0a51\u0a81-\u0a83\u0abc-\u0acd\u0b01-\u0b03\u0b3c-\u0b57"
    "\u0bbe-\u0bcd\u0c00-\u0c04\u0c3e-\u0c56\u0c81-\u0c83\u0cbc-\u0cd6\u0d00-\u0d03"
    "\u0d3e-\u0d4d\u0d81-\u0d83\u0dca-\u0ddf"
)
_PIECE = re.compile(
    rf"(?P<run>[{_UNSPACED}]+)"
    rf"|(?P<number>\d+(?:[.,]\d+)+(?!\w))"
    rf"|(?P<word>(?:(?![{_UNSPACED}])\w|[{_MARKS}])+)"
    r"|(?P<symbol>[^\w\s])"
)
_INNER = re.compile(r"[^\W\d_]+|\d+")
_HUMP = re.compile(r"(?<=[a-z\d])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_FOLDED_SCRIPTS = re.compile("[\u00c0-\u024f\u0370-\u03ff\u1e00-\u1fff]")
_LIGATURES = str.maketrans(
    {"ø": "o", "ł": "l", "đ": "d", "ð": "d", "þ": "th", "æ": "ae", "œ": "oe", "ı": "i"}
)
ANALYSIS = f"terms 1, porter, snowballstemmer {version('snowballstemmer').split('.')[0]}"
"""Texts and queries meet only when they were read by the same analysis."""

_LONGEST_TERM = 64  # characters; longer words are cut alike in texts and queries

_STOP_LIST = """
    a about am an and any are as at be been being but by can could did didn do does doesn doing
    down for from had has hasn have haven having he her here hers him his how i if in into is
    isn it its just ll m me might more most much my no not of off on or our ours out over re s she
    should so some such t than that the their theirs them then there these they this those through
    to too up us ve very was wasn we were weren what when where which while who whom whose why
    will with would wouldn you your yours
    的 了 是 在 吗 呢 吧 啊 我 你 他 她 它 们 这 那 有 和 与 就 都 也 很 什 么 谁 哪 怎 几 为
    什么 哪里 哪儿 哪个 怎么 怎样 为什 多少 我们 你们 他们 她们 这个 那个 是否 是什
    は が を に の と で も か へ です ます した
"""
STOP_WORDS = frozenset(_STOP_LIST.split())
"""What people ask with, in English, Chinese and Japanese; dropped from questions only."""


def terms(text: str) -> list[str]:
    """The search terms of a text in order, repeated as often as they occur.

    A text of punctuation only is found by its punctuation; elsewhere it is ignored.
    """
    found: list[str] = []
    punctuation: list[str] = []
    previous, previous_end = "", -1
    for match in _PIECE.finditer(unicodedata.normalize("NFKC", text)):
        kind, piece = match.lastgroup, match.group()
        if kind == "run":
            if match.start() == previous_end and previous.isdigit():
                found.append(previous + piece[0])  # 2023年, 8日
            found.extend(_grams(piece))
        elif kind == "number":
            found.append(piece.replace(",", ""))
            found.extend(_INNER.findall(piece))
        elif kind == "word":
            found.extend(_word(piece))
        elif unicodedata.category(piece)[0] == "S":
            found.append(piece)
        else:
            punctuation.append(piece)
        previous, previous_end = piece, match.end()
    return found or punctuation


def query_terms(text: str) -> list[str]:
    """Terms of a question without its stop words, unless it has nothing else."""
    everything = terms(text)
    return [term for term in everything if term not in _STOPPED] or everything


def date_terms(day: date) -> list[str]:
    """A day as people write it: ``8 May 2023``, and 2023年5月8日."""
    english = f"{day.day} {_MONTHS[day.month - 1]} {day.year}"
    return [*terms(english), f"{day.year}年", f"{day.month}月", f"{day.day}日"]


_MONTHS = (
    *("January", "February", "March", "April", "May", "June"),
    *("July", "August", "September", "October", "November", "December"),
)


def _grams(run: str) -> Iterator[str]:
    """Characters, and words of two: no segmenter agrees with another on Chinese words."""
    for index, character in enumerate(run):
        yield character
        if index + 1 < len(run):
            yield run[index : index + 2]


def _word(word: str) -> Iterable[str]:
    """A word's stem; of an identifier (snake_case, camelCase, RTX4090) also its parts."""
    parts = [
        hump for inner in _INNER.findall(_unmarked(word)) for hump in _HUMP.split(inner) if hump
    ]
    whole = _folded(word)
    if len(parts) > 1 or (parts and "_" in word):
        return [_cut(whole), *(_stem(_folded(part)) for part in parts)]
    return [_stem(whole)]


def _unmarked(word: str) -> str:
    """The word without marks that would cut it in pieces (never the case in Latin)."""
    return re.sub(f"[{_MARKS}]", "", word)


def _folded(word: str) -> str:
    """Lower case, without accents where they are accents: Latin and Greek.

    In other scripts a mark makes another letter (й, が, हि), and stays.
    """
    folded = word.casefold()
    if folded.isascii():
        return folded
    if _FOLDED_SCRIPTS.search(folded):
        decomposed = unicodedata.normalize("NFD", folded.translate(_LIGATURES))
        bare = "".join(c for c in decomposed if not "\u0300" <= c <= "\u036f")
        return unicodedata.normalize("NFC", bare)
    return folded


def _cut(term: str) -> str:
    return term[:_LONGEST_TERM]


_stemmers = threading.local()  # a stemmer keeps its word in itself: one for each thread


@lru_cache(maxsize=65536)
def _stem(word: str) -> str:
    if len(word) < 3 or not (word.isascii() and word.isalpha()):
        return _cut(word)
    if not hasattr(_stemmers, "english"):
        _stemmers.english = snowballstemmer.stemmer("porter")
    stemmed: str = _stemmers.english.stemWord(_cut(word))
    return stemmed


_STOPPED = frozenset(term for word in STOP_WORDS for term in (word, _stem(word)))
