"""Ways to turn texts into unit vectors; :func:`choose` takes what the settings name."""

from __future__ import annotations

from aml_adapters.embedders.base import Embedder
from aml_sdk.providers.settings import ProviderSettings

__all__ = ["Embedder", "choose"]


def choose(settings: ProviderSettings | None = None) -> Embedder:
    """The provider's model if the settings name one, else the static one of this machine.

    Args:
        settings: ``None`` reads the environment.

    Raises:
        Misconfigured: the environment contradicts itself.
        ModuleNotFoundError: the embedder's package is not installed.
    """
    settings = ProviderSettings.from_environment() if settings is None else settings
    if settings.embedding is None:
        from aml_adapters.embedders.static import StaticEmbedder  # noqa: PLC0415  takes a second

        return StaticEmbedder()
    from aml_adapters.embedders.provider import ProviderEmbedder  # noqa: PLC0415  likewise

    return ProviderEmbedder(settings)
