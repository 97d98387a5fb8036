"""The page about settings says what the table of settings says, and its files are read."""

import re

import pytest

from aml_contract.certification.declaration import declaration_from
from aml_contract.certification.declaration.checks import Circumstances, grounds
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
    found = resolve({}, environ={}, config=tmp_path / name)
    declared = declaration_from(tmp_path / name)
    read = len(found.given) + len(declared.model_fields_set - {"review"}) + len(declared.review)
    assert read == len(re.findall("^[a-z0-9_]+ = ", block.text, re.MULTILINE)) > 0


def test_the_declared_example_is_complete_and_consistent(tmp_path):
    (block,) = [block for block in EXAMPLES if "[declaration]" in block.text]
    file = tmp_path / "endpoint.toml"
    file.write_text(block.text)
    settings = resolve({}, environ={}, config=file)
    beside = Circumstances(track=settings["track"], auth=settings["auth"])
    assert not list(grounds(declaration_from(file), beside))
