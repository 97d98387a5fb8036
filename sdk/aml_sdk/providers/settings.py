"""Where models are, and how much is asked of them at once."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TypeVar

from aml_sdk.errors import Misconfigured

_Number = TypeVar("_Number", int, float)


@dataclass(frozen=True, kw_only=True)
class ModelAddress:
    """One model of one server."""

    base_url: str
    """Up to and without ``/chat/completions`` or ``/embeddings``."""
    model: str
    """The model's name, as that server calls it."""
    api_key: str | None = field(default=None, repr=False)
    """Sent as a bearer token; ``None`` sends none, as a server at home may have it."""


@dataclass(frozen=True, kw_only=True)
class ProviderSettings:
    """The models in use, and limits. Each field names its environment variable."""

    llm: ModelAddress | None = None
    """``AML_LLM_BASE_URL``, ``AML_LLM_MODEL``, ``AML_LLM_API_KEY``; ``None``: no chat model."""
    embedding: ModelAddress | None = None
    """``AML_EMBEDDING_BASE_URL``, ``…_MODEL``, ``…_API_KEY``; ``None``: no embedding model."""
    dimensions: int | None = None
    """``AML_EMBEDDING_DIMENSIONS``: asked of the model; ``None`` takes what it gives."""

    timeout: float = 60.0
    """``AML_PROVIDER_TIMEOUT``: seconds that one try may take."""
    retries: int = 2
    """``AML_PROVIDER_RETRIES``: further tries after 408, 409, 429, 5xx, a time-out or a broken
    connection. A ``Retry-After`` of up to two minutes is honoured. Few: the client tries again too.
    """
    concurrency: int = 8
    """``AML_PROVIDER_CONCURRENCY``: requests to one model at once; others wait."""
    batch_texts: int = 10
    """``AML_EMBEDDING_BATCH_TEXTS``: texts in one request. Ten is what all known servers take."""
    batch_tokens: int = 80_000
    """``AML_EMBEDDING_BATCH_TOKENS``: tokens in one request, by o200k."""
    text_tokens: int = 8_000
    """``AML_EMBEDDING_TEXT_TOKENS``: a longer text is embedded by its beginning."""

    @classmethod
    def from_environment(cls, environment: Mapping[str, str] | None = None) -> ProviderSettings:
        """What the variables say; an empty one counts as unset.

        Raises:
            Misconfigured: a model without its URL or the reverse, or no number where one must be.
        """
        given = os.environ if environment is None else environment
        variables = {name: value.strip() for name, value in given.items() if value.strip()}
        dimensions = _number(variables, "AML_EMBEDDING_DIMENSIONS", 0)
        return cls(
            llm=_address(variables, "AML_LLM"),
            embedding=_address(variables, "AML_EMBEDDING"),
            dimensions=dimensions or None,
            timeout=_number(variables, "AML_PROVIDER_TIMEOUT", cls.timeout),
            retries=_number(variables, "AML_PROVIDER_RETRIES", cls.retries, least=0),
            concurrency=_number(variables, "AML_PROVIDER_CONCURRENCY", cls.concurrency),
            batch_texts=_number(variables, "AML_EMBEDDING_BATCH_TEXTS", cls.batch_texts),
            batch_tokens=_number(variables, "AML_EMBEDDING_BATCH_TOKENS", cls.batch_tokens),
            text_tokens=_number(variables, "AML_EMBEDDING_TEXT_TOKENS", cls.text_tokens),
        )


def _address(variables: Mapping[str, str], prefix: str) -> ModelAddress | None:
    base_url, model = (variables.get(f"{prefix}_{name}") for name in ("BASE_URL", "MODEL"))
    if base_url is None and model is None:
        return None
    # No URL is assumed: a key must not reach a host that nobody named.
    if base_url is None or model is None:
        given, lacking = ("MODEL", "BASE_URL") if base_url is None else ("BASE_URL", "MODEL")
        raise Misconfigured(f"{prefix}_{given} needs {prefix}_{lacking} beside it")
    if not base_url.startswith(("http://", "https://")):
        raise Misconfigured(f"{prefix}_BASE_URL must begin with http:// or https://")
    return ModelAddress(base_url=base_url, model=model, api_key=variables.get(f"{prefix}_API_KEY"))


def _number(
    variables: Mapping[str, str], name: str, default: _Number, *, least: int = 1
) -> _Number:
    given = variables.get(name)
    if given is None:
        return default
    try:
        number = type(default)(given)
    except ValueError:
        number = least - 1
    if not least <= number < 10**9:
        raise Misconfigured(f"{name} must be a number from {least} on, and is {given!r}")
    return number
