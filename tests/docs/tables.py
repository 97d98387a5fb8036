"""All that is written into the documentation by a program, and the schemas of the reports.

``python -m tests.docs.tables`` writes it; a test fails where something differs.
"""

from aml_contract.certification.report import schema as certification
from aml_contract.probe import schema as probe
from aml_contract.report import schema as check
from aml_contract.report.schema import text as schema_text
from tests.config import tables as settings
from tests.docs import action_table, command_tables
from tests.docs.pages import ROOT
from tests.report import field_tables

ASSETS = ROOT / "docs" / "assets"
SCHEMAS = {
    path: made
    for kept, made in (
        (check.PATH, check.report_schema),
        (certification.PATH, certification.certification_schema),
        (probe.PATH, probe.probe_schema),
    )
    for path in (kept, ASSETS / kept.name)
}
"""What makes the schema in each of these files: those of the package, and the site's copies."""
PAGES = {each.PAGE: each.filled for each in (action_table, command_tables, settings, field_tables)}
"""What fills in the tables of a page."""
WRITTEN = (*PAGES, *SCHEMAS)


def written(path):
    """The text that a file should have."""
    return PAGES[path](path.read_text()) if path in PAGES else schema_text(SCHEMAS[path]())


if __name__ == "__main__":
    for each in WRITTEN:
        each.write_text(written(each))
