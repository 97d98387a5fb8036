"""Multiple choice: the options of a question, made from the answers to the others.

So an answer can be judged without a judge: it is the right letter or it is not.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from string import ascii_uppercase

from aml_contract.smoke.locomo import Question

NOT_SAID = "The memories do not say."
"""Always the last option; right where nothing answers the question."""
_WRONG = 3
"""Options beside the right one and the last."""


@dataclass(frozen=True)
class Choices:
    """The options of one question."""

    texts: tuple[str, ...]
    right: str
    """The letter of the right one."""

    @property
    def options(self) -> list[str]:
        """As they are sent and read (clause S2): ``A. …``, ``B. …``."""
        return [f"{letter}. {text}" for letter, text in self.lettered.items()]

    @property
    def lettered(self) -> dict[str, str]:
        """The texts by their letters."""
        return dict(zip(ascii_uppercase, self.texts, strict=False))


def choices_of(question: Question, others: Sequence[Question], seed: int) -> Choices | None:
    """The options of a question; ``None`` if its file does not say what is right.

    Args:
        question: what is asked.
        others: whose answers are the wrong options, those of its own category first.
        seed: draws and orders them, whichever other questions are asked.
    """
    own = question.answer or question.trap
    if not own:
        return None
    chance = random.Random(f"{seed}/{question.text}")  # noqa: S311  not a secret
    answers = [one for one in others if one.answer and one.answer.casefold() != own.casefold()]
    chance.shuffle(answers)
    answers.sort(key=lambda one: one.category != question.category)
    wrong = list(dict.fromkeys(one.answer for one in answers))[:_WRONG]
    texts = [own, *wrong]
    chance.shuffle(texts)
    texts.append(NOT_SAID)
    right = texts.index(own) if question.answer else len(texts) - 1
    return Choices(tuple(texts), ascii_uppercase[right])
