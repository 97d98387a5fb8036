"""Chroma's files: the graph is never written but to forget, and what was deleted is then gone."""

import numpy as np

from aml_adapters.chroma_files import UNWRITTEN, ChromaFiles


def written(directory):
    """The vectors in the files of the graph, in bytes."""
    return sum(file.stat().st_size for file in directory.rglob("data_level0.bin"))


def filled(collection, name, count=150):
    vectors = np.random.default_rng(7).normal(size=(count, 8)).astype(np.float32)
    ids = [f"{name}-{number}" for number in range(count)]
    collection.add(ids=ids, embeddings=vectors, metadatas=[{"text": f"of {name}"}] * count)
    return vectors


def bytes_of(directory):
    return b"".join(file.read_bytes() for file in directory.rglob("*") if file.is_file())


def made(files, **hnsw):
    return files.client.create_collection(
        "memories", embedding_function=None, configuration={"hnsw": {"space": "l2", **hnsw}}
    )


def test_the_graph_is_made_from_the_log_at_each_start(tmp_path):
    files = ChromaFiles(tmp_path)
    vectors = filled(made(files, **UNWRITTEN), "walrus")
    before = written(tmp_path)
    files.close()
    files = ChromaFiles(tmp_path)
    collection = files.collection("memories")
    kept = collection.get(ids=["walrus-149"], include=["embeddings"])["embeddings"]
    assert np.array_equal(kept[0], vectors[149])
    filled(collection, "seal")
    assert written(tmp_path) == before
    files.close()


def test_a_graph_that_was_written_before_is_written_no_more(tmp_path):
    files = ChromaFiles(tmp_path)
    filled(made(files, sync_threshold=100), "walrus")
    collection = files.collection("memories")
    before = written(tmp_path)
    assert before
    filled(collection, "seal", 500)
    assert written(tmp_path) == before
    assert collection.count() == 650
    files.close()


def test_an_emptied_log_holds_nothing_of_what_was_deleted_and_loses_nothing_else(tmp_path):
    files = ChromaFiles(tmp_path)
    collection = made(files, **UNWRITTEN)
    vectors = filled(collection, "walrus")
    filled(collection, "seal")
    collection.update(ids=["seal-0"], embeddings=np.zeros((1, 8), np.float32))
    collection.delete(ids=[f"walrus-{number}" for number in range(150)])
    assert b"of walrus" in bytes_of(tmp_path)
    collection = files.empty_log("memories")
    assert b"of walrus" not in bytes_of(tmp_path)
    assert collection.count() == 150
    kept = collection.get(ids=["seal-1"], include=["embeddings", "metadatas"])
    assert np.array_equal(kept["embeddings"][0], vectors[1])
    assert kept["metadatas"] == [{"text": "of seal"}]
    before = written(tmp_path)
    filled(collection, "otter", 500)
    assert written(tmp_path) == before
    files.close()
