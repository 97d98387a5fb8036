"""docs/reports.md says what the code does."""

import re

from aml_contract.config import REPORT_FILES
from aml_contract.report.formats import FORMATS
from tests.report import field_tables


def test_every_model_and_every_format_is_documented():
    page = field_tables.PAGE.read_text()
    documented = set(re.findall(r"<!-- fields of (\w+) -->", page))
    assert documented == set(field_tables.models())
    assert tuple(FORMATS) == REPORT_FILES
    for name in REPORT_FILES:
        assert f"`--{name}" in page


def test_every_field_is_told_or_tells_itself():
    plain = {"adds", "searches", "method", "url", "reply_headers", "p95", "p99", "add_url"}
    plain |= {"search_url", "health_url", "rule", "level", "clause", "transport"}
    for name, model in field_tables.models().items():
        for field, schema in model["properties"].items():
            assert field in plain or "description" in schema or "$ref" in schema, (name, field)
