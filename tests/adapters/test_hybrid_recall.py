import os
from pathlib import Path

import pytest

from aml_contract.smoke.recall import average
from benchmarks.measuring.recall import answers
from benchmarks.measuring.talk import REPORTED_ON, locomo
from benchmarks.retrieval import SYSTEMS


@pytest.mark.skipif("AML_DATA_DIR" not in os.environ, reason="AML_DATA_DIR is not set")
def test_recall_is_at_least_that_of_full_text_search_with_windows():
    conversations = locomo(REPORTED_ON, Path(os.environ["AML_DATA_DIR"]))
    hybrid, baseline = (
        average(answers(SYSTEMS[name], conversations))
        for name in ("hybrid", "FTS5 with neighbours")
    )
    assert hybrid.questions == baseline.questions > 600
    assert 0.5 < baseline.among[10] <= hybrid.among[10]
    assert baseline.among[100] <= hybrid.among[100]
