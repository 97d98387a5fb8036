"""Evaluating answers: the right letter, or not."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import fmean

from rich.console import Console, ConsoleOptions, RenderResult
from rich.text import Text

from aml_contract.smoke.answering import Answerer
from aml_contract.smoke.locomo import CATEGORIES
from aml_contract.smoke.prefix import prefix_of
from aml_contract.smoke.run import Answer

_AT_ONCE = 8
"""Questions that the answer model has at a time."""


@dataclass(frozen=True)
class Graded:
    """One answered question."""

    category: int
    options: int
    right: bool
    readable: bool
    """Whether the reply held a letter."""
    tokens: int
    """What the model read of memories."""
    unread: int
    """Items that were cut off."""


@dataclass(frozen=True)
class Evaluation:
    """What came of answering; shares are from 0 to 1, ``None`` of nothing."""

    by: str
    """Who answered."""
    questions: int
    without_answer: int
    """Questions whose file does not say what is right, and which were not answered."""
    right: int
    accuracy: float | None
    by_category: dict[str, float | None]
    chance: float | None
    """What guessing would come to."""
    unreadable: int
    """Replies without a letter; they count as wrong."""
    cut: int
    """Questions for which some of the results were not read (clause S14)."""

    @property
    def above_chance(self) -> bool:
        """Whether so many right answers are more than guessing explains, nearly always."""
        if not self.questions or self.chance is None or self.accuracy is None:
            return False
        spread = math.sqrt(self.chance * (1 - self.chance) / self.questions)
        return self.accuracy > self.chance + 2 * spread

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        if self.accuracy is None:
            yield Text("No question of these files has an answer to evaluate.")
            return
        yield Text(
            f"Answers by {self.by}: {self.right} of {self.questions} right "
            f"({self.accuracy:.3f}; guessing comes to {self.chance:.3f})."
        )
        kinds = (
            f"{name} {share:.2f}" for name, share in self.by_category.items() if share is not None
        )
        yield Text(f"By category: {', '.join(kinds)}.")
        if self.unreadable:
            yield Text(f"{self.unreadable} replies held no letter and count as wrong.")
        if self.cut:
            yield Text(f"For {self.cut} questions the end of the results was not read.")
        if self.without_answer:
            yield Text(f"{self.without_answer} questions have no answer in their file.")


async def graded(answers: Sequence[Answer], by: Answerer, done: Callable[[], None]) -> list[Graded]:
    """Have every question answered that has options.

    Args:
        answers: what the Searches brought.
        by: who answers.
        done: called after each.

    Raises:
        AnswererTrouble: it does not answer.
    """
    places = asyncio.Semaphore(_AT_ONCE)

    async def one(answer: Answer) -> Graded:
        assert answer.choices is not None
        async with places:
            prefix = prefix_of(answer.contents)
            chosen = await by.answer(answer.question.text, prefix.text, answer.choices)
            done()
            return Graded(
                category=answer.question.category,
                options=len(answer.choices.texts),
                right=chosen == answer.choices.right,
                readable=chosen is not None,
                tokens=prefix.tokens,
                unread=prefix.unread,
            )

    try:
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(one(each)) for each in answers if each.choices]
    except ExceptionGroup as several:
        raise several.exceptions[0] from None
    return [task.result() for task in tasks]


def evaluation_of(found: Sequence[Graded], answers: Sequence[Answer], by: str) -> Evaluation:
    """What the grades come to together."""

    def accuracy(those: Sequence[Graded]) -> float | None:
        return fmean(each.right for each in those) if those else None

    return Evaluation(
        by=by,
        questions=len(found),
        without_answer=sum(answer.choices is None for answer in answers),
        right=sum(each.right for each in found),
        accuracy=accuracy(found),
        by_category={
            name: accuracy([each for each in found if each.category == number])
            for number, name in CATEGORIES.items()
        },
        chance=fmean(1 / each.options for each in found) if found else None,
        unreadable=sum(not each.readable for each in found),
        cut=sum(each.unread > 0 for each in found),
    )
