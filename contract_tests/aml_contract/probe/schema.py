"""The JSON Schema of a probe's document, generated from its model."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from aml_contract.probe.document import ProbeReport
from aml_contract.report.schema import schema_of

PATH = Path(__file__).with_name("probe.schema.json")
"""The schema as other programs read it, kept in the package."""


def probe_schema() -> dict[str, Any]:
    """The schema that every document of a probe by this version of the kit follows."""
    return schema_of(ProbeReport)
