"""rag on a Chroma server."""

import pytest

from aml_adapters.rag import RagMemory, RagSettings
from aml_sdk.errors import Misconfigured, Unavailable
from aml_servers.forgetting import forget, remember
from tests.adapters.rag.conftest import chroma_server
from tests.adapters.talk import FILLER, add, contents, search


def test_on_a_server_it_stores_finds_forgets_and_outlives_its_restart(tmp_path, port):
    with chroma_server(tmp_path / "chroma", port) as url:
        memory = RagMemory(tmp_path / "data", RagSettings(chroma_url=url))
        add(memory, "u\x00", "r1", "left\x00right", *FILLER)
        add(memory, "v", "r1", FILLER[0])
        before = search(memory, "u\x00", "kettle")
        assert sorted(contents(before)) == sorted(("left\x00right", *FILLER))
        assert memory.health()
    assert not memory.health()
    with pytest.raises(Unavailable):
        search(memory, "u\x00", "kettle")
    with pytest.raises(Unavailable):
        add(memory, "u\x00", "r2", "said to nobody")
    with chroma_server(tmp_path / "chroma", port):
        assert memory.health()
        assert search(memory, "u\x00", "kettle") == before
        memory.discard("u\x00", "r2")
        memory.forget("u\x00")
        assert search(memory, "u\x00", "kettle") == []
        assert contents(search(memory, "v", "kettle")) == [FILLER[0]]
        memory.close()
    assert not (tmp_path / "data" / "chroma").exists()


def test_nobody_is_forgotten_without_the_server_that_has_them(tmp_path, port, monkeypatch):
    monkeypatch.delenv("AML_CHROMA_URL", raising=False)
    data = tmp_path / "data"
    with chroma_server(tmp_path / "chroma", port) as url:
        memory = RagMemory(data, RagSettings(chroma_url=url))
        remember("rag", data)
        add(memory, "u", "r1", *FILLER)
        memory.close()
        with pytest.raises(Misconfigured, match=f"on the Chroma server at 127.0.0.1:{port}: name"):
            forget("u", data)
        monkeypatch.setenv("AML_CHROMA_URL", url)
        forget("u", data)
        memory = RagMemory(data, RagSettings(chroma_url=url))
        assert search(memory, "u", "kettle") == []
        memory.close()


def test_where_no_server_answers_it_does_not_start(tmp_path, port):
    url = f"http://127.0.0.1:{port}"
    with pytest.raises(Unavailable, match=url):
        RagMemory(tmp_path, RagSettings(chroma_url=url))
    RagMemory(tmp_path, RagSettings()).close()  # and it gave the directory up
