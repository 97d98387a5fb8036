"""The page about settings says what the table of settings says, and its files are read."""

import re

import pytest

from aml_contract.config import SETTINGS, resolve
from tests.config import tables
from tests.docs.pages import blocks_of

EXAMPLES = [block for block in blocks_of(tables.PAGE) if block.language == "toml"]


def test_every_setting_is_documented():
    page = tables.PAGE.read_text()
    assert all(f"`{setting.env}`" in page for setting in SETTINGS)


@pytest.mark.parametrize("block", EXAMPLES, ids=lambda block: f"line {block.line}")
def test_the_examples_are_read(tmp_path, block):
    name = re.match(r"# (\S+)\n", block.text)[1]
    (tmp_path / name).write_text(block.text)
    found = resolve({}, environ={}, directory=tmp_path)
    assert len(found.given) == len(re.findall("^[a-z_]+ = ", block.text, re.MULTILINE)) > 0
