"""The JSON Schema of a certification's report, generated from its model."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from aml_contract.certification.document import Certification
from aml_contract.report.schema import schema_of

PATH = Path(__file__).with_name("certification.schema.json")
"""The schema as other programs read it, kept in the package."""


def certification_schema() -> dict[str, Any]:
    """The schema that every report of a certification by this version of the kit follows."""
    return schema_of(Certification)
