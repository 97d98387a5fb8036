"""How large the agent's context is, and how long it may go on."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass

from aml_sdk.errors import Misconfigured


@dataclass(frozen=True, kw_only=True)
class MemGPTSettings:
    """Limits of the agent. Each field names its environment variable.

    Raises:
        Misconfigured: limits that leave no room for a conversation.
    """

    context_tokens: int = 16_384
    """``AML_MEMGPT_CONTEXT_TOKENS``: of one request to the model, by o200k. Not more than the
    model takes; the reply comes on top."""
    block_characters: int = 2_000
    """``AML_MEMGPT_BLOCK_CHARACTERS``: what one block of core memory holds."""
    steps: int = 8
    """``AML_MEMGPT_STEPS``: requests to the model in one turn, whatever heartbeats it asks."""

    def __post_init__(self) -> None:
        if self.context_tokens < 4_096:
            raise Misconfigured("AML_MEMGPT_CONTEXT_TOKENS must be at least 4096")
        if not 100 <= self.block_characters <= self.context_tokens // 8:
            raise Misconfigured(
                "AML_MEMGPT_BLOCK_CHARACTERS must be from 100 to an eighth of"
                f" AML_MEMGPT_CONTEXT_TOKENS, which is {self.context_tokens}"
            )
        if self.steps < 1:
            raise Misconfigured("AML_MEMGPT_STEPS must be at least 1")

    @classmethod
    def from_environment(cls, environment: Mapping[str, str] | None = None) -> MemGPTSettings:
        """What the variables say; an empty one counts as unset.

        Raises:
            Misconfigured: no whole number, or limits that leave no room.
        """
        given = os.environ if environment is None else environment
        variables = {
            "context_tokens": "AML_MEMGPT_CONTEXT_TOKENS",
            "block_characters": "AML_MEMGPT_BLOCK_CHARACTERS",
            "steps": "AML_MEMGPT_STEPS",
        }
        limits = {}
        for field, variable in variables.items():
            value = given.get(variable, "").strip()
            if value and not (value.isascii() and value.isdigit()):
                raise Misconfigured(f"{variable} must be a whole number, and is {value!r}")
            if value:
                limits[field] = int(value)
        return cls(**limits)

    @property
    def warn_at(self) -> int:
        """Tokens from which the model is told that its context fills up."""
        return self.context_tokens * 7 // 10

    @property
    def evict_at(self) -> int:
        """Tokens from which the oldest messages leave the context."""
        return self.context_tokens * 9 // 10

    @property
    def evict_to(self) -> int:
        """Tokens that remain then."""
        return self.context_tokens // 2

    @property
    def batch_tokens(self) -> int:
        """Messages that are shown in one turn."""
        return self.context_tokens // 4

    @property
    def message_tokens(self) -> int:
        """What is shown of one message; recall storage keeps it whole."""
        return self.context_tokens // 8

    @property
    def summary_tokens(self) -> int:
        """What the summary of evicted messages may take."""
        return self.context_tokens // 16

    @property
    def result_tokens(self) -> int:
        """What is shown of one search result."""
        return self.context_tokens // 64
