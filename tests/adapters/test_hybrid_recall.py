import os
from pathlib import Path

import pytest

from benchmarks.retrieval import evaluate, load


@pytest.mark.skipif("AML_DATA_DIR" not in os.environ, reason="AML_DATA_DIR is not set")
def test_recall_is_at_least_that_of_full_text_search_with_windows():
    conversations = load([41, 42, 43], Path(os.environ["AML_DATA_DIR"]))
    hybrid = evaluate("hybrid", conversations)
    baseline = evaluate("fts5-windows", conversations)
    assert hybrid.questions == baseline.questions > 600
    assert 0.5 < baseline.recall[10] <= hybrid.recall[10]
    assert baseline.recall[100] <= hybrid.recall[100]
