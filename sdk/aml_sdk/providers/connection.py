"""One model of one server: how many requests at once, how long, and how often again."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from typing import TypeVar

import openai

from aml_sdk.providers.settings import ModelAddress, ProviderSettings
from aml_sdk.providers.trouble import malformed, translated

_Answer = TypeVar("_Answer")


class Connection:
    """Calls of one model, from any number of threads.

    Of the environment only what is in the settings is used, and proxies: no other account's
    name or key is sent along.

    Args:
        address: the model and its server.
        prefix: of the variables that name them, such as ``AML_LLM``.
        settings: limits.
    """

    def __init__(self, address: ModelAddress, prefix: str, settings: ProviderSettings) -> None:
        # These two write requests into the log when it is set to debug (clauses K3, L3).
        for name in ("openai", "httpx2"):
            logging.getLogger(name).setLevel(logging.WARNING)
        self.model = address.model
        self._prefix = prefix
        self._places = threading.BoundedSemaphore(settings.concurrency)
        self.headers: dict[str, str | openai.Omit] = {
            "OpenAI-Organization": openai.Omit(),
            "OpenAI-Project": openai.Omit(),
        }
        """To be given to each request as ``extra_headers``."""
        if address.api_key is None:
            self.headers["Authorization"] = openai.Omit()
        self._client = openai.OpenAI(
            base_url=address.base_url,
            api_key=address.api_key or "none",  # the header is left out, but it asks for one
            timeout=settings.timeout,
            max_retries=settings.retries,
        )

    def call(self, request: Callable[[openai.OpenAI], _Answer]) -> tuple[_Answer, float]:
        """The answer, and the milliseconds it took, tries before it included.

        Raises:
            Unavailable: the provider does not answer, or refuses the key, model or account.
            ProviderRefusal: it refuses this request.
        """
        with self._places:
            started = time.perf_counter()
            try:
                answer = request(self._client)
            except (openai.OpenAIError, ValueError) as error:  # ValueError: no JSON
                raise translated(error, self._prefix, self.model) from error
            return answer, round((time.perf_counter() - started) * 1000, 1)

    def malformed(self, what: str) -> Exception:
        """The error to raise for an answer that breaks the protocol in the way said."""
        return malformed(self._prefix, self.model, what)

    def close(self) -> None:
        """Close the sockets."""
        self._client.close()
