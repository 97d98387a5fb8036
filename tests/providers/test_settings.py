import re
from pathlib import Path

import pytest

from aml_sdk.errors import Misconfigured
from aml_sdk.providers import ProviderSettings

_ADDRESS = ("BASE_URL", "MODEL", "API_KEY")
_URL = "http://127.0.0.1:1/v1"


def test_nothing_set_means_no_models_and_the_defaults():
    assert ProviderSettings.from_environment({}) == ProviderSettings()
    assert ProviderSettings.from_environment({"AML_LLM_BASE_URL": " "}) == ProviderSettings()


def test_every_variable_is_read():
    settings = ProviderSettings.from_environment(
        {
            "AML_LLM_BASE_URL": _URL,
            "AML_LLM_MODEL": "talker",
            "AML_LLM_API_KEY": "k1",
            "AML_EMBEDDING_BASE_URL": _URL,
            "AML_EMBEDDING_MODEL": "pointer",
            "AML_EMBEDDING_API_KEY": "k2",
            "AML_EMBEDDING_DIMENSIONS": "256",
            "AML_PROVIDER_TIMEOUT": "2.5",
            "AML_PROVIDER_RETRIES": "0",
            "AML_PROVIDER_CONCURRENCY": "3",
            "AML_EMBEDDING_BATCH_TEXTS": "4",
            "AML_EMBEDDING_BATCH_TOKENS": "5",
            "AML_EMBEDDING_TEXT_TOKENS": "6",
        }
    )
    assert settings.llm is not None
    assert (settings.llm.model, settings.llm.api_key) == ("talker", "k1")
    assert settings.embedding is not None
    assert (settings.embedding.model, settings.embedding.api_key) == ("pointer", "k2")
    limits = (settings.timeout, settings.retries, settings.concurrency, settings.dimensions)
    assert limits == (2.5, 0, 3, 256)
    assert (settings.batch_texts, settings.batch_tokens, settings.text_tokens) == (4, 5, 6)


def test_keys_are_not_shown():
    given = {"AML_LLM_BASE_URL": _URL, "AML_LLM_MODEL": "m", "AML_LLM_API_KEY": "hush"}
    assert "hush" not in repr(ProviderSettings.from_environment(given))


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"AML_LLM_MODEL": "m"}, "AML_LLM_MODEL needs AML_LLM_BASE_URL"),
        ({"AML_EMBEDDING_BASE_URL": _URL}, "needs AML_EMBEDDING_MODEL"),
        ({"AML_LLM_BASE_URL": "host/v1", "AML_LLM_MODEL": "m"}, "must begin with http"),
        ({"AML_PROVIDER_CONCURRENCY": "0"}, "AML_PROVIDER_CONCURRENCY must be a number from 1"),
        ({"AML_PROVIDER_RETRIES": "-1"}, "AML_PROVIDER_RETRIES must be a number from 0"),
        ({"AML_PROVIDER_TIMEOUT": "nan"}, "AML_PROVIDER_TIMEOUT must be a number"),
        ({"AML_EMBEDDING_DIMENSIONS": "many"}, "and is 'many'"),
    ],
)
def test_contradictions_are_said(given, words):
    with pytest.raises(Misconfigured, match=words):
        ProviderSettings.from_environment(given)


def test_the_documentation_has_every_variable_and_default():
    page = (Path(__file__).parents[2] / "docs" / "providers.md").read_text()
    shown = dict(re.findall(r"^\| `(AML_\w+)` \|.*\| ([^|]*?) ?\|$", page, re.MULTILINE))
    defaults = {
        "AML_PROVIDER_TIMEOUT": "timeout",
        "AML_PROVIDER_RETRIES": "retries",
        "AML_PROVIDER_CONCURRENCY": "concurrency",
        "AML_EMBEDDING_BATCH_TEXTS": "batch_texts",
        "AML_EMBEDDING_BATCH_TOKENS": "batch_tokens",
        "AML_EMBEDDING_TEXT_TOKENS": "text_tokens",
    }
    for variable, name in defaults.items():
        assert shown[variable] == f"{getattr(ProviderSettings, name):,.0f}"
    places = {f"{kind}_{name}" for kind in ("AML_LLM", "AML_EMBEDDING") for name in _ADDRESS}
    assert set(shown) == set(defaults) | places | {"AML_EMBEDDING_DIMENSIONS"}
