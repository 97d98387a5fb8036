import json

import numpy as np
import pytest

from aml_adapters.embedders import choose
from aml_adapters.embedders.provider import ProviderEmbedder
from aml_adapters.embedders.static import StaticEmbedder
from aml_sdk import tokens
from aml_sdk.errors import Misconfigured, Unavailable
from aml_sdk.providers import EmbeddingModel, ProviderRefusal, ProviderSettings
from tests.providers import fake_openai as fake


def _data(*pairs):
    data = [{"object": "embedding", "index": i, "embedding": vector} for i, vector in pairs]
    return fake.raw(json.dumps({"object": "list", "data": data, "model": "m"}))


def test_vectors_come_in_the_order_of_the_texts_over_several_requests(provider):
    texts = [f"note number {number}" for number in range(25)]
    vectors = EmbeddingModel(provider.settings()).embed(texts)
    assert vectors.dtype == np.float32
    np.testing.assert_allclose(vectors, [fake.vector(text) for text in texts], rtol=1e-6)
    assert [len(each["input"]) for each in provider.embeddings] == [10, 10, 5]
    assert all(each["encoding_format"] == "float" for each in provider.embeddings)
    assert all("dimensions" not in each for each in provider.embeddings)


def test_requests_stay_within_their_tokens_and_long_texts_are_cut(provider):
    model = EmbeddingModel(provider.settings(batch_tokens=50, text_tokens=30))
    model.embed(["word " * 20, "Wort " * 20, "字" * 500, "short", "also short"])
    sent = [each["input"] for each in provider.embeddings]
    assert sum(len(each) for each in sent) == 5
    assert all(sum(map(tokens.count, each)) <= 50 for each in sent)
    cut = next(text for each in sent for text in each if "字" in text)
    assert "字" * 500 != cut == "字" * len(cut)


def test_base64_is_understood(provider):
    model = EmbeddingModel(provider.settings())
    provider.base64_vectors = True
    np.testing.assert_array_equal(model.embed(["hello"])[0], fake.vector("hello"))


def test_blank_texts_get_a_vector_too(provider):
    vectors = EmbeddingModel(provider.settings()).embed(["", "x", " \n"])
    assert vectors.any(axis=1).all()


def test_dimensions_are_asked_for_or_learnt(provider):
    assert EmbeddingModel(provider.settings()).dimensions == fake.DIMENSIONS
    model = EmbeddingModel(provider.settings(dimensions=16))
    assert model.dimensions == 16
    assert model.embed(["a"]).shape == (1, 16)
    assert model.embed([]).shape == (0, 16)
    assert provider.embeddings[-1]["dimensions"] == 16


@pytest.mark.parametrize(
    "answer",
    [
        _data(),
        _data((0, [1.0, 2.0])),
        _data((0, [1.0, 2.0]), (0, [1.0, 2.0])),
        _data((0, [1.0, 2.0]), (1, [1.0])),
        _data((0, [1.0, 2.0]), (1, [0.0, 0.0])),
        _data((0, [1.0, 2.0]), (1, [float("nan"), 1.0])),
        _data((0, [1.0, 2.0]), (1, "%%%")),
        _data((0, [1.0, 2.0]), (1, None)),
        fake.raw('{"data": null}'),
        fake.raw("[]"),
        fake.bad_json(),
        fake.error(500),
    ],
)
def test_answers_that_are_no_vectors_are_trouble(provider, answer):
    provider.mode = answer
    with pytest.raises(Unavailable):
        EmbeddingModel(provider.settings(retries=0)).embed(["a", "b"])


def test_vectors_of_another_length_than_before_are_trouble(provider):
    model = EmbeddingModel(provider.settings())
    model.embed(["a"])
    provider.script(_data((0, [1.0, 2.0])))
    with pytest.raises(Unavailable):
        model.embed(["b"])


def test_a_text_that_is_refused_is_told_apart(provider):
    provider.mode = fake.error(400)
    with pytest.raises(ProviderRefusal):
        EmbeddingModel(provider.settings()).embed(["a"])


def test_without_a_model_it_says_what_to_set():
    with pytest.raises(Misconfigured, match="AML_EMBEDDING_BASE_URL"):
        EmbeddingModel(ProviderSettings())


def test_the_settings_choose_the_embedder(provider, monkeypatch):
    for name in ("BASE_URL", "MODEL", "API_KEY"):
        monkeypatch.delenv(f"AML_EMBEDDING_{name}", raising=False)
    assert isinstance(choose(), StaticEmbedder)
    for name, value in provider.environment().items():
        monkeypatch.setenv(name, value)
    assert isinstance(choose(), ProviderEmbedder)


@pytest.mark.parametrize("name", ["static", "provider"])
def test_embedders_give_unit_vectors_and_say_what_they_are(provider, name):
    settings = provider.settings() if name == "provider" else ProviderSettings()
    embedder = choose(settings)
    vectors = embedder.embed(["a dog barks", "eine Katze", ""])
    assert vectors.dtype == np.float32
    assert vectors.shape == (3, embedder.dimensions)
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, rtol=1e-5)
    assert embedder.embed([]).shape == (0, embedder.dimensions)
    assert embedder.fingerprint == choose(settings).fingerprint
    embedder.close()


def test_the_fingerprint_changes_with_what_changes_vectors(provider):
    prints = {
        choose(settings).fingerprint
        for settings in (
            ProviderSettings(),
            provider.settings(),
            provider.settings(dimensions=16),
            provider.settings(text_tokens=9),
        )
    }
    assert len(prints) == 4
