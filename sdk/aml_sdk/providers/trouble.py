"""What a provider's failures mean for us: temporary trouble, with advice in the log.

The messages of providers may quote what they were sent, so none is passed on or logged.
"""

from __future__ import annotations

import logging
import re

import openai

from aml_sdk.errors import Unavailable
from aml_sdk.providers.reply import ProviderRefusal

logger = logging.getLogger("aml.providers")

_CODE = re.compile(r"[a-z0-9_.-]{1,64}", re.IGNORECASE)

_KEY = "the key was refused: check {prefix}_API_KEY"
_QUOTA = "the account's rate or quota is used up: lower AML_PROVIDER_CONCURRENCY, or pay"
_REFUSED = "the request was refused: too long, filtered, or with a field it does not know"
_ADVICE: dict[int | None, str] = {
    **dict.fromkeys((401, 403), _KEY),
    404: "no such model or URL: check {prefix}_BASE_URL and {prefix}_MODEL",
    **dict.fromkeys((402, 429), _QUOTA),
    **dict.fromkeys((400, 413, 422), _REFUSED),
}


def log(level: int, event: str, **fields: object) -> None:
    """Write one line for the server's JSON log: names and numbers, never a payload or key."""
    logger.log(level, event, extra={"fields": fields})


def translated(error: Exception, prefix: str, model: str) -> Unavailable:
    """The error to raise instead; what an operator can do about it is logged.

    Args:
        error: what the library raised.
        prefix: of the variables that name this model, such as ``AML_LLM``.
        model: its name.
    """
    status = error.status_code if isinstance(error, openai.APIStatusError) else None
    code = getattr(error, "code", None)
    known = isinstance(code, str) and _CODE.fullmatch(code)
    log(
        logging.ERROR,
        "provider trouble",
        model=model,
        error=type(error).__name__,
        **({"status": status} if status is not None else {}),
        **({"code": code} if known else {}),
        advice=_advice(error, status, prefix),
    )
    if status in {400, 413, 422}:
        return ProviderRefusal(f"the provider refuses what {prefix}_MODEL was asked")
    return Unavailable(f"the provider of {prefix}_MODEL does not answer as it should")


def malformed(prefix: str, model: str, what: str) -> Unavailable:
    """The error to raise for an answer that breaks the protocol in the way said in ``what``."""
    log(logging.ERROR, "provider trouble", model=model, error="malformed answer", advice=what)
    return Unavailable(f"the provider of {prefix}_MODEL does not answer as it should")


def _advice(error: Exception, status: int | None, prefix: str) -> str:
    if status in _ADVICE:
        return _ADVICE[status].format(prefix=prefix)
    if isinstance(error, openai.APITimeoutError):
        return f"no answer in time: raise AML_PROVIDER_TIMEOUT, or check {prefix}_BASE_URL"
    if isinstance(error, openai.APIConnectionError):
        return f"no connection: check {prefix}_BASE_URL and the network"
    return "the provider itself has trouble; the client tries again"
