"""A memory as a probe sees it: Adds that are acknowledged, and Searches that return items."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from aml_contract.probe.reply import Item
from aml_contract.smoke.run import TOP_K


class Memory(Protocol):
    """What is probed, by HTTP or in this process; bodies are those of the contract."""

    async def add(self, body: dict[str, Any]) -> None:
        """Send an Add; returns when it is acknowledged."""
        ...

    async def search(self, body: dict[str, Any]) -> Sequence[Item]:
        """Send a Search; what came back, best first."""
        ...


def user_id(run: str, user: int | str) -> str:
    """The id of a user, with colons as real ids have (clause A2)."""
    return f"eval:{run}:probe:user-{user}"


def search_body(query: str, user: str) -> dict[str, Any]:
    """A Search as formal runs send it."""
    return {"query": query, "user_id": user, "top_k": TOP_K}
