"""Chat and embeddings from any server that speaks OpenAI's protocol.

Names are loaded when they are first used: the libraries behind them take a second.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from aml_sdk.providers.chat import ChatModel
    from aml_sdk.providers.embeddings import EmbeddingModel
    from aml_sdk.providers.reply import Chat, ChatReply, ProviderRefusal, ToolCall, Usage
    from aml_sdk.providers.settings import ModelAddress, ProviderSettings

__all__ = [
    "Chat",
    "ChatModel",
    "ChatReply",
    "EmbeddingModel",
    "ModelAddress",
    "ProviderRefusal",
    "ProviderSettings",
    "ToolCall",
    "Usage",
]

_HOMES = {
    "Chat": "reply",
    "ChatModel": "chat",
    "ChatReply": "reply",
    "EmbeddingModel": "embeddings",
    "ModelAddress": "settings",
    "ProviderRefusal": "reply",
    "ProviderSettings": "settings",
    "ToolCall": "reply",
    "Usage": "reply",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
    globals()[name] = value
    return value
