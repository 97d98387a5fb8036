"""The reference memories, by the names that ``aml serve`` knows."""

import pytest

MEMORIES = ("hybrid", "long-context", "mem0", "memgpt", "rag")


def slow_but(*fast):
    """All of them as parameters; only ``fast`` ones run in the fast lane."""
    return [pytest.param(name, marks=() if name in fast else pytest.mark.slow) for name in MEMORIES]
