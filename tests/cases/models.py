"""Faults of cases in the provider of a memory's models, in the cases' own words."""

from tests.adapters.serving import USES_MODELS
from tests.providers.fake_openai import error, say

SYSTEMS = {"B13": ("mem0", "memgpt"), "B15": USES_MODELS, "B24": USES_MODELS}
"""The memories that the fault of a case can meet."""


def fault_of(provider):
    """Gives the provider the fault that a step names, and takes it away."""

    def fault(words):
        provider.mode = None if words is None else _mode(provider, words)

    return fault


def _mode(provider, words):
    if words.startswith("extraction model replies"):
        kind, answer = "messages", say(words.partition("replies: ")[2])
    else:
        assert words.startswith("embedding provider"), words
        kind, answer = "input", error(503)
    return lambda body: (answer if kind in body else provider.usual)(body)
