"""Chat completions: messages and tools in, words and calls of tools out."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from typing import Any

from aml_sdk.errors import Misconfigured
from aml_sdk.providers.connection import Connection
from aml_sdk.providers.reply import ChatReply, ToolCall, Usage
from aml_sdk.providers.settings import ProviderSettings
from aml_sdk.providers.trouble import log


class ChatModel:
    """The chat model of the settings. Blocking; safe to use from several threads at once.

    Raises:
        Misconfigured: the settings name none.
    """

    def __init__(self, settings: ProviderSettings) -> None:
        if settings.llm is None:
            raise Misconfigured("no chat model: set AML_LLM_BASE_URL and AML_LLM_MODEL")
        self._connection = Connection(settings.llm, "AML_LLM", settings)

    @property
    def model(self) -> str:
        """Its name."""
        return self._connection.model

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
        """One completion; the first choice is taken.

        Args are OpenAI's; what is ``None`` is not sent. Nothing in the reply has been checked
        against ``tools`` or ``response_format``: a model may keep to neither.

        Raises:
            Unavailable: the provider does not answer; tried again already.
            ProviderRefusal: it refuses this request.
        """
        asked = {
            "tools": tools,
            "tool_choice": tool_choice,
            "response_format": response_format,
            "temperature": temperature,
            "max_tokens": max_tokens,
        }
        given: dict[str, Any] = {name: value for name, value in asked.items() if value is not None}
        given |= {"model": self.model, "messages": list(messages)}
        completion, ms = self._connection.call(
            lambda client: client.chat.completions.create(
                **given, extra_headers=self._connection.headers
            )
        )
        reply = self._reply(completion)
        log(
            logging.INFO,
            "chat",
            model=self.model,
            ms=ms,
            prompt_tokens=reply.usage.prompt,
            completion_tokens=reply.usage.completion,
            finish_reason=reply.finish_reason,
            tool_calls=len(reply.tool_calls),
        )
        return reply

    def close(self) -> None:
        """Close the connections."""
        self._connection.close()

    def _reply(self, completion: Any) -> ChatReply:
        """Read leniently: the library's types promise what servers do not keep."""
        choice = next(iter(getattr(completion, "choices", None) or ()), None)
        message = getattr(choice, "message", None)
        if message is None:
            raise self._connection.malformed("the answer is no chat completion: check the URL")
        usage = getattr(completion, "usage", None)
        return ChatReply(
            content=_text(getattr(message, "content", None)),
            tool_calls=tuple(
                ToolCall(
                    id=_text(getattr(call, "id", None)) or f"call_{number}",
                    name=_text(getattr(call.function, "name", None)),
                    arguments=_text(getattr(call.function, "arguments", None)),
                )
                for number, call in enumerate(getattr(message, "tool_calls", None) or ())
                if getattr(call, "function", None) is not None
            ),
            usage=Usage(
                prompt=getattr(usage, "prompt_tokens", None) or 0,
                completion=getattr(usage, "completion_tokens", None) or 0,
            ),
            finish_reason=_text(getattr(choice, "finish_reason", None)) or "stop",
            refusal=_text(getattr(message, "refusal", None)),
        )


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""
