"""The JSON Schema of the JSON report, generated from its model."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from aml_contract.checking.document import Report

PATH = Path(__file__).with_name("report.schema.json")
"""The schema as other programs read it, kept in the package."""


def report_schema() -> dict[str, Any]:
    """The schema that every report of this version of the kit follows."""
    return schema_of(Report)


def schema_of(document: type[BaseModel]) -> dict[str, Any]:
    """The schema of a document whose member ``report`` names its form, as ``aml-report/1``.

    The last parts of its ``$id`` are those of that name: a change that would break a reader
    counts the number up.
    """
    name, _, number = document.model_fields["report"].default.removeprefix("aml-").partition("/")
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": f"urn:aml-contract:{name}:{number}",
        **document.model_json_schema(mode="serialization"),
    }


def text(schema: dict[str, Any]) -> str:
    """A schema as its file has it."""
    return json.dumps(schema, indent=2) + "\n"
