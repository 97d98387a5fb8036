from pathlib import Path

import pytest

from aml_adapters.hybrid import HybridMemory


@pytest.fixture
def memory(tmp_path: Path):
    opened = HybridMemory(tmp_path / "data")
    yield opened
    opened.close()
