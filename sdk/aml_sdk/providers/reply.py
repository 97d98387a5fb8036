"""What a chat model answers, in shapes that need no library: rules may imitate one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from aml_sdk.errors import Unavailable


class ProviderRefusal(Unavailable):
    """The provider will not take this request (400, 413, 422), and may well take others.

    A wrong setting is refused in the same way as a payload, so it counts as temporary; a
    caller that can do without the answer may catch it.
    """


@dataclass(frozen=True)
class ToolCall:
    """A tool that the model wants to be called."""

    id: str
    name: str
    arguments: str
    """As the model wrote them: JSON if it kept to the protocol."""


@dataclass(frozen=True)
class Usage:
    """Tokens as the provider counts them; 0 where it does not say."""

    prompt: int = 0
    completion: int = 0


@dataclass(frozen=True)
class ChatReply:
    """What the model said."""

    content: str
    """Empty when it only calls tools, or refuses."""
    tool_calls: tuple[ToolCall, ...] = ()
    usage: Usage = Usage()
    finish_reason: str = "stop"
    """``stop``, ``tool_calls``, ``length`` (cut off) or ``content_filter``."""
    refusal: str = ""
    """Why the model will not answer; empty if it does."""


class Chat(Protocol):
    """Anything that answers like a chat model: one at a URL, or rules that imitate one."""

    def complete(  # noqa: PLR0913  OpenAI's own arguments
        self,
        messages: Sequence[Mapping[str, Any]],
        *,
        tools: Sequence[Mapping[str, Any]] | None = None,
        tool_choice: str | Mapping[str, Any] | None = None,
        response_format: Mapping[str, Any] | None = None,
        temperature: float | None = 0,
        max_tokens: int | None = None,
    ) -> ChatReply:
        """One completion. See :meth:`aml_sdk.providers.ChatModel.complete`."""
