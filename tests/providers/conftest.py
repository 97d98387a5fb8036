import pytest

from tests.providers.fake_openai import fake_provider


@pytest.fixture
def provider():
    with fake_provider() as running:
        yield running
