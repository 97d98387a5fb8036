import pytest

from aml_adapters.memgpt import MemGPTMemory, MemGPTSettings
from aml_sdk.providers import ProviderSettings
from tests.providers.fake_openai import fake_provider, say


@pytest.fixture
def memory(tmp_path):
    """Without a model: the policy drives the loop."""
    opened = MemGPTMemory(tmp_path / "data", providers=ProviderSettings())
    yield opened
    opened.close()


@pytest.fixture
def small(tmp_path):
    """The same in a context that a few messages fill."""
    settings = MemGPTSettings(context_tokens=4_096, block_characters=200)
    opened = MemGPTMemory(tmp_path / "data", settings=settings, providers=ProviderSettings())
    yield opened
    opened.close()


@pytest.fixture
def provider():
    """A chat-completions server on a socket; its model has nothing to add unless scripted."""
    with fake_provider() as running:
        running.mode = say("done")
        yield running


@pytest.fixture
def thinking(tmp_path, provider):
    """With the model of ``provider``."""
    settings = MemGPTSettings(context_tokens=4_096, block_characters=200, steps=4)
    opened = MemGPTMemory(
        tmp_path / "data",
        settings=settings,
        providers=provider.settings(embedding=False, timeout=30.0, retries=0),
    )
    yield opened
    opened.close()
