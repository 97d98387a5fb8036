"""What a builder of a memory imports: the system to write, the server around it, the client.

Names are loaded when they are first used, so that ``import aml_sdk`` costs nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from aml_sdk._gen.client import MemoryClient
    from aml_sdk._gen.models import (
        AddRequest,
        AddResponse,
        ContentPart,
        ImagePart,
        ImageURL,
        Memory,
        Message,
        SearchRequest,
        SearchResponse,
        TextPart,
    )
    from aml_sdk.errors import (
        AMLError,
        DataDirectoryBusy,
        Misconfigured,
        Refused,
        SystemFailure,
        Unavailable,
        Unsupported,
    )
    from aml_sdk.ledger import Ledger, MemoryLedger, SQLiteLedger
    from aml_sdk.server import Settings, create_app
    from aml_sdk.system import MemorySystem

__all__ = [
    "AMLError",
    "AddRequest",
    "AddResponse",
    "ContentPart",
    "DataDirectoryBusy",
    "ImagePart",
    "ImageURL",
    "Ledger",
    "Memory",
    "MemoryClient",
    "MemoryLedger",
    "MemorySystem",
    "Message",
    "Misconfigured",
    "Refused",
    "SQLiteLedger",
    "SearchRequest",
    "SearchResponse",
    "Settings",
    "SystemFailure",
    "TextPart",
    "Unavailable",
    "Unsupported",
    "create_app",
]

_HOMES = {
    "aml_sdk._gen.client": {"MemoryClient"},
    "aml_sdk.errors": {
        "AMLError",
        "DataDirectoryBusy",
        "Misconfigured",
        "Refused",
        "SystemFailure",
        "Unavailable",
        "Unsupported",
    },
    "aml_sdk.ledger": {"Ledger", "MemoryLedger", "SQLiteLedger"},
    "aml_sdk.server": {"Settings", "create_app"},
    "aml_sdk.system": {"MemorySystem"},
}


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    homes = (home for home, names in _HOMES.items() if name in names)
    value = getattr(import_module(next(homes, "aml_sdk._gen.models")), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
