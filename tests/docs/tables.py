"""All that is written into the documentation by a program, and the schema of the report.

``python -m tests.docs.tables`` writes it; a test fails where something differs.
"""

from aml_contract.report import schema
from tests.config import tables as settings
from tests.docs import action_table, command_tables
from tests.docs.pages import ROOT
from tests.report import field_tables

SCHEMA = ROOT / "docs" / "assets" / "report.schema.json"
"""The copy of the schema that the site offers."""


PAGES = {each.PAGE: each.filled for each in (action_table, command_tables, settings, field_tables)}
"""What fills in the tables of a page."""
WRITTEN = (*PAGES, schema.PATH, SCHEMA)


def written(path):
    """The text that a file should have."""
    return PAGES[path](path.read_text()) if path in PAGES else schema.text()


if __name__ == "__main__":
    for each in WRITTEN:
        each.write_text(written(each))
