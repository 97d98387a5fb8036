"""A memory behind its server and its ledger, as ``aml serve`` puts it there."""

from contextlib import contextmanager

from aml_sdk import SQLiteLedger
from aml_servers.finding import find_system, make_system
from aml_servers.forgetting import remember
from tests.adapters.models import takes_notes
from tests.providers.fake_openai import fake_provider
from tests.sdk.conftest import running

USES_MODELS = ("mem0", "memgpt", "rag")


@contextmanager
def served(name, data_dir, monkeypatch, *, with_models=False, **settings):
    """The server, and the provider of its models, if it is given any."""
    with fake_provider() as provider:
        provider.chat = takes_notes
        for variable, value in provider.environment().items():
            monkeypatch.setenv(variable, value if with_models else "")
        monkeypatch.setenv("AML_PROVIDER_RETRIES", "0")
        memory = make_system(find_system(name), data_dir)
        remember(name, data_dir)
        with running(memory, ledger=SQLiteLedger(data_dir), **settings) as server:
            yield server, provider
