"""A model that does not answer is told to the client: 503, and nothing is half-stored."""

import pytest

from tests.adapters.serving import USES_MODELS, served
from tests.adapters.talk import FILLER
from tests.providers.fake_openai import error, rate_limited, raw

THINKS = ("mem0", "memgpt")
"""The memories that ask a chat model."""
TROUBLE = {"503": error(503), "429": rate_limited(), "401": error(401), "no JSON": raw("<html>")}


@pytest.mark.parametrize("trouble", TROUBLE)
@pytest.mark.parametrize(
    ("name", "kind"),
    [*((name, "messages") for name in THINKS), *((name, "input") for name in USES_MODELS)],
    ids=[*(f"{name}-chat" for name in THINKS), *(f"{name}-embeddings" for name in USES_MODELS)],
)
def test_an_add_is_503_and_leaves_nothing_half_stored(name, kind, trouble, tmp_path, monkeypatch):
    with served(name, tmp_path, monkeypatch, with_models=True) as (server, provider):
        assert server.add(*FILLER[:2], request_id="before").status_code == 200
        before = server.contents()
        provider.mode = lambda body: (TROUBLE[trouble] if kind in body else provider.usual)(body)
        for _ in range(2):  # the platform comes again
            assert server.add(*FILLER[2:], request_id="during").status_code == 503
        if kind == "input":
            assert server.search().status_code == 503
        else:
            assert server.contents() == before  # a Search asks no chat model
        provider.mode = None
        assert server.contents() == before
        assert server.add(*FILLER[2:], request_id="during").status_code == 200
        after = server.contents()
        assert {text: after.count(text) for text in FILLER} == dict.fromkeys(FILLER, 1)
        assert len(after) == len(set(after))
