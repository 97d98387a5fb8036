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


def written():
    """Each file, and the text that it should have."""
    for tables in (action_table, command_tables, settings, field_tables):
        yield tables.PAGE, tables.filled(tables.PAGE.read_text())
    for path in (schema.PATH, SCHEMA):
        yield path, schema.text()


if __name__ == "__main__":
    for path, text in written():
        path.write_text(text)
