"""Answering questions from what a Search returned: by a model, or by a reader without one."""

from __future__ import annotations

import math
import re
from collections import Counter
from typing import TYPE_CHECKING, Protocol

from aml_contract.smoke.choices import Choices
from aml_contract.smoke.chunking import CJK

if TYPE_CHECKING:
    import openai

_INSTRUCTION = (
    "You are given memories and a question about them. Choose the option that the memories "
    "support. If they do not answer the question, choose the last option. Reply with the letter "
    "of one option and nothing else."
)
_LETTER = re.compile(r"\W*([A-Z])(?![A-Za-z])")
_WORD = re.compile(f"[{CJK}]|[^\\W{CJK}]+")


class AnswererTrouble(Exception):  # noqa: N818  a state of the world, told to the user
    """The answer model does not answer; says why and what to do. No fault of the endpoint."""


class Answerer(Protocol):
    """Whatever reads memories and chooses an option."""

    name: str
    """What it is called in reports."""

    async def answer(self, question: str, memories: str, choices: Choices) -> str | None:
        """The letter that was chosen; ``None`` if no letter can be read in the reply.

        Raises:
            AnswererTrouble: there is no reply at all.
        """
        ...

    async def aclose(self) -> None:
        """Close what is open."""
        ...


class Stub:
    """A reader without a model: the option whose rare words stand beside the question's.

    It always answers alike and costs nothing. Traps catch it each time, and how well it answers
    says whether evidence gets through, not how well a model would do.
    """

    name = "stub"

    async def answer(self, question: str, memories: str, choices: Choices) -> str | None:
        """The option that one line supports best; the last if none supports any."""
        lines = [_words(line) for line in memories.splitlines()]
        counts = Counter(word for line in lines for word in line)

        def weight(words: set[str]) -> float:
            # Exact, so that the order of a set decides nothing.
            return math.fsum(math.log((len(lines) + 1) / (counts[word] + 0.5)) for word in words)

        def share(words: set[str], line: set[str]) -> float:
            return weight(words & line) / weight(words) if words & line else 0.0

        asked = _words(question)
        near = [(share(asked, line), line) for line in lines]
        *told, last = choices.lettered.items()
        support = {
            letter: max(
                (is_near * share(_words(text) - asked, line) for is_near, line in near), default=0.0
            )
            for letter, text in told
        }
        chosen = max(support, key=lambda letter: support[letter])
        return chosen if support[chosen] > 0 else last[0]

    async def aclose(self) -> None:
        """Nothing is open."""


class Model:
    """A chat model behind a URL that speaks OpenAI's protocol.

    Args:
        url: the base of the API, as ``https://api.example/v1``.
        model: its name.
        key: sent as a bearer token; none if ``None``.
        timeout: seconds that one try may take.

    Raises:
        ModuleNotFoundError: the extra ``llm`` is not installed.
    """

    def __init__(self, url: str, model: str, key: str | None, timeout: float = 120.0) -> None:
        import openai  # noqa: PLC0415  an extra, and it takes a second

        self.name = model
        self._url = url
        self._key = key
        # Of the environment nothing is used: no other account's name or key is sent along.
        self._headers: dict[str, str | openai.Omit] = {
            name: openai.Omit() for name in ("OpenAI-Organization", "OpenAI-Project")
        }
        if key is None:
            self._headers["Authorization"] = openai.Omit()
        self._client = openai.AsyncOpenAI(base_url=url, api_key=key or "none", timeout=timeout)
        self._trouble = openai.OpenAIError

    async def answer(self, question: str, memories: str, choices: Choices) -> str | None:
        """What the model chooses, at temperature 0."""
        asked = "\n".join([f"Question: {question}", "", *choices.options])
        try:
            reply = await self._client.chat.completions.create(
                model=self.name,
                messages=[
                    {"role": "system", "content": _INSTRUCTION},
                    {"role": "user", "content": f"Memories:\n{memories}\n\n{asked}"},
                ],
                temperature=0,
                extra_headers=self._headers,
            )
            text = reply.choices[0].message.content or ""
        except (self._trouble, ValueError, LookupError, AttributeError, TypeError) as error:
            raise AnswererTrouble(self._told(error)) from error
        found = _LETTER.match(text)
        return found[1] if found and found[1] in choices.lettered else None

    async def aclose(self) -> None:
        """Close the connections."""
        await self._client.close()

    def _told(self, error: Exception) -> str:
        """Why there is no answer; what the provider says is not repeated, it may quote."""
        status = getattr(error, "status_code", None)
        what = _TROUBLES.get(status) or f"it answered {status}: look at its own log"
        if status is None:
            what = "no usable answer came: check the URL, and that it speaks OpenAI's protocol"
        return f"the answer model {self.name} at {self._url} does not answer: {what}"


_TROUBLES: dict[int | None, str] = {
    **dict.fromkeys((401, 403), "the key is refused: check the variable of --answer-key-env"),
    404: "no such model or URL: check --answer and --answer-model",
    **dict.fromkeys((402, 429), "rate or quota is used up: wait, or ask fewer --questions"),
    **dict.fromkeys((400, 413, 422), "the request is refused: its context may be too small"),
}


def _words(text: str) -> set[str]:
    return set(_WORD.findall(text.casefold()))
