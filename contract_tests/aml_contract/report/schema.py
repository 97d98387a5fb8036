"""The JSON Schema of the JSON report, generated from its model."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from aml_contract.checking.document import Report

PATH = Path(__file__).with_name("report.schema.json")
"""The schema as other programs read it, kept in the package."""


def report_schema() -> dict[str, Any]:
    """The schema that every report of this version of the kit follows.

    The last part of its ``$id`` is that of the member ``report``: a change that would break
    a reader counts it up.
    """
    form = Report.model_fields["report"].default.rpartition("/")[2]
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": f"urn:aml-contract:report:{form}",
        **Report.model_json_schema(mode="serialization"),
    }


def text() -> str:
    """The schema as its file has it."""
    return json.dumps(report_schema(), indent=2) + "\n"
