"""A language: what the users of a probe say and ask in it, read from ``languages/*.toml``."""

from __future__ import annotations

import tomllib
from datetime import datetime
from functools import cache
from importlib.resources import files
from random import Random

from pydantic import BaseModel, ConfigDict

LANGUAGES = ("en", "zh")


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Slot(_Part):
    """A side of everyday life that has one value at a time.

    A ``scene`` shares no content word with the ``name``, and ``advice`` shares none with either.
    """

    name: str
    """What it is called: "gym"."""
    scene: str
    """Says its value without calling it by its name."""
    advice: str
    """A question whose answer depends on it, though it is not mentioned."""


class Talk(_Part):
    """Small talk: sentences, and lists of words for the places in them."""

    sentences: tuple[str, ...]
    words: tuple[tuple[str, ...], ...]

    def sentence(self, chance: Random) -> str:
        """A sentence that says nothing about any slot."""
        return chance.choice(self.sentences).format(*map(chance.choice, self.words))


class Language(_Part):
    """Sentences with places for ``{name}``, ``{value}``, ``{old}`` and ``{end}``."""

    direct: str
    joint: str
    date: str
    explicit: tuple[str, ...]
    switch: tuple[str, ...]
    reference: tuple[str, ...]
    other: tuple[str, ...]
    other_cues: tuple[str, ...]
    """Words that tell a sentence of ``other`` from one about the user."""
    temporary: tuple[str, ...]
    plan: tuple[str, ...]
    plan_cues: tuple[str, ...]
    """Words that tell a plan from what is so."""
    answers: tuple[str, ...]
    """What an assistant says."""
    talk: Talk
    slots: tuple[Slot, ...]

    def on(self, moment: datetime) -> str:
        """A date as one writes it."""
        return moment.strftime(self.date)


@cache
def language(code: str) -> Language:
    """The language of this code, one of :data:`LANGUAGES`."""
    text = files("aml_contract.probe").joinpath("languages", f"{code}.toml").read_text("utf-8")
    return Language.model_validate(tomllib.loads(text))
