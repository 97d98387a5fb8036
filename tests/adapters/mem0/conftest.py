import json

import pytest

from aml_adapters.mem0 import Mem0Memory
from aml_sdk.providers import ProviderSettings
from tests.providers.fake_openai import fake_provider, say


@pytest.fixture
def memory(tmp_path):
    """Without a model: messages are kept as they were said."""
    opened = Mem0Memory(tmp_path / "data", ProviderSettings())
    yield opened
    opened.close()


@pytest.fixture
def provider():
    """A server with both models; its chat model finds no facts unless scripted."""
    with fake_provider() as running:
        running.chat = found()
        yield running


@pytest.fixture
def thinking(tmp_path, provider):
    """With both models of ``provider``."""
    opened = Mem0Memory(tmp_path / "data", provider.settings(timeout=2.0, retries=0))
    yield opened
    opened.close()


def found(*texts):
    """The model's answer when it finds these facts."""
    facts = [{"text": text, "attributed_to": "user"} for text in texts]
    return say(json.dumps({"memory": facts}))
