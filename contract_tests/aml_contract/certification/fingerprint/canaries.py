"""Canaries: memories that nobody else has, and questions about them, made from a seed."""

from __future__ import annotations

import random
import tomllib
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Any

from pydantic import ConfigDict

from aml_contract.documented import Documented

_FIRST = 1_002_000_000_000
"""October 2001: so long ago that a month more or less changes no weight of recency."""
_APART = 40 * 24 * 3_600_000
"""Milliseconds between two sessions."""
_CROWDED = 2
"""Memories of each theme whose words a bystander uses too."""
_DRAWS = 4
"""How often he uses them, about other people."""
_CHUNK = 12


class Canary(Documented):
    """One memory, as it is sent."""

    model_config = ConfigDict(frozen=True)

    content: str
    """The text; no other canary contains it."""
    timestamp: int
    """Unix milliseconds (clause A7)."""


class Canaries(Documented):
    """What is stored and asked.

    It goes into the certificate whole: all of it is the kit's own, and a later kit, whose themes
    may be others, must be able to send it again.
    """

    model_config = ConfigDict(frozen=True)

    sessions: list[list[Canary]]
    """One Add each, sent in this order."""
    bystander: list[list[str]]
    """What another user stores meanwhile, in the same words: it must change nothing (S15)."""
    queries: list[str]
    """What is asked."""
    top_k: int = 10
    """Items that are asked for."""

    @property
    def texts(self) -> list[str]:
        """Every memory of the user; its place is the canary's number."""
        return [canary.content for session in self.sessions for canary in session]


def canaries_of(seed: int) -> Canaries:
    """The canaries of a seed: 36 memories in three sessions, and 18 questions."""
    chance = random.Random(f"{seed}/canaries")  # noqa: S311  not a secret
    pools, themes = _themes()
    drawn = [(theme, _draw(chance, pools)) for theme in themes]
    memories = [text.format(**words) for theme, words in drawn for text in theme["memories"]]
    chance.shuffle(memories)
    crowd = [
        text.format(**_draw(chance, pools))
        for theme in themes
        for text in theme["memories"][:_CROWDED]
        for _ in range(_DRAWS)
    ]
    return Canaries(
        sessions=[
            [
                Canary(content=text, timestamp=_FIRST + number * _APART + place * 1_000)
                for place, text in enumerate(memories[start : start + _CHUNK])
            ]
            for number, start in enumerate(range(0, len(memories), _CHUNK))
        ],
        bystander=[crowd[start : start + _CHUNK] for start in range(0, len(crowd), _CHUNK)],
        queries=[text.format(**words) for theme, words in drawn for text in theme["questions"]],
    )


def _draw(chance: random.Random, pools: Mapping[str, list[str]]) -> dict[str, str]:
    return {name: chance.choice(words) for name, words in pools.items()}


@cache
def _themes() -> tuple[dict[str, list[str]], list[dict[str, Any]]]:
    here = files("aml_contract.certification.fingerprint")
    found = tomllib.loads(here.joinpath("themes.toml").read_text("utf-8"))
    return found["pools"], found["theme"]
