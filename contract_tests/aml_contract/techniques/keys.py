"""Keys that are not the right one, sent the way the right one is (clauses K1, K2)."""

from __future__ import annotations

from collections.abc import Mapping

from aml_contract.endpoint.auth import key_header
from aml_contract.trial import Trial


def under_scheme(trial: Trial, key: str) -> Mapping[str, str]:
    """The header that carries ``key`` the configured way; no header may end in a space."""
    made = key_header(trial.endpoint.auth.scheme, key)
    return {name: value.strip() for name, value in made.items()}


def invented(trial: Trial) -> str:
    """A key that nobody has: invented words."""
    return "-".join(trial.ns.word() for _ in range(4))
