"""The tables of docs/configuration.md, made from the tables of settings and of what is declared."""

import re
from itertools import groupby
from pathlib import Path

from aml_contract.certification.declaration.checklist import CHECKLIST
from aml_contract.certification.declaration.file import fields
from aml_contract.config import SETTINGS

PAGE = Path(__file__).parents[2] / "docs" / "configuration.md"
_PLACE = re.compile(r"(<!-- (settings|declaration) -->\n).*?(<!-- end -->)", re.DOTALL)
_HEAD = "| setting | is | default | variable | what it does |\n| --- | --- | --- | --- | --- |\n"


def settings():
    """A table for each section."""
    parts = []
    for section, of_it in groupby(SETTINGS, key=lambda setting: setting.section):
        rows = "".join(row(setting) for setting in of_it)
        parts.append(f"### `[{section}]`\n\n{_HEAD}{rows}")
    return "\n".join(parts)


def declaration():
    """The fields of a declaration, and the rows of its checklist."""
    lines = ["| field | is | what it says |", "| --- | --- | --- |"]
    lines += [f"| `{field.name}` | {kind(field)} | {field.help} |" for field in fields()]
    lines += ["", "| row | question |", "| --- | --- |"]
    for one in CHECKLIST:
        spared = " Not asked where `fault_cmd` is given." if one.seen_with_a_fault else ""
        lines.append(f"| `{one.number}` | {one.question}{spared} |")
    return "\n".join(lines) + "\n"


def kind(setting):
    """What the value of a setting is, in words."""
    found = " or ".join(f"`{each}`" for each in setting.choices) or setting.kind.value
    return f"a list of {found}" if setting.repeatable and setting.choices else found


def row(setting):
    """A setting as a line."""
    default = f"`{setting.shown(setting.default)}`" if setting.default not in (None, ()) else ""
    cells = (f"`{setting.name}`", kind(setting), default, f"`{setting.env}`", setting.help)
    return f"| {' | '.join(cells)} |\n"


def filled(text):
    """The page with its tables as they should be."""
    made = {"settings": settings, "declaration": declaration}
    return _PLACE.sub(lambda match: f"{match[1]}\n{made[match[2]]()}\n{match[3]}", text)
