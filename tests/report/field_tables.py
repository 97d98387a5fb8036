"""The tables of fields in docs/reports.md, made from the report's models."""

import re
from pathlib import Path

from aml_contract.report.schema import report_schema

PAGE = Path(__file__).parents[2] / "docs" / "reports.md"
_TABLE = re.compile(r"(<!-- fields of (\w+) -->\n).*?(<!-- end -->)", re.DOTALL)


def models():
    """Every model of the report by name: its schema."""
    schema = report_schema()
    objects = {n: one for n, one in schema["$defs"].items() if one["type"] == "object"}
    return {"Report": schema, **objects}


def table(model):
    """The fields of a model as a Markdown table."""
    rows = ["| field | type | what it is |", "| --- | --- | --- |"]
    for name, field in model["properties"].items():
        told = field.get("description") or _described(field)
        told = " ".join(told.replace("``", "`").split())
        rows.append(f"| `{name}` | {_type(field)} | {told} |")
    return "\n".join(rows) + "\n"


def filled(page):
    """The page with every table as it should be."""
    known = models()
    return _TABLE.sub(lambda m: f"{m[1]}\n{table(known[m[2]])}\n{m[3]}", page)


def _described(field):
    """The description of the model that a field holds."""
    name = field.get("$ref", "").rpartition("/")[2]
    return models().get(name, {}).get("description", "").partition("\n")[0]


def _type(field):
    if "$ref" in field:
        return field["$ref"].rpartition("/")[2]
    if "anyOf" in field:
        return " or ".join(_type(one) for one in field["anyOf"])
    if "const" in field or "enum" in field:
        return "text"
    match field["type"]:
        case "array" if "prefixItems" in field:
            return "pair of numbers"
        case "array":
            return f"list of {_type(field['items'])}"
        case "object":
            inner = field.get("additionalProperties")
            return f"object of {_type(inner)}" if isinstance(inner, dict) else "object"
        case kind:
            return {"string": "text", "integer": "whole number"}.get(kind, kind)
