"""The server around a memory system."""

from aml_sdk.server.app import create_app
from aml_sdk.server.settings import AuthScheme, Settings

__all__ = ["AuthScheme", "Settings", "create_app"]
