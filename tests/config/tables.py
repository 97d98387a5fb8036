"""The tables of docs/configuration.md, made from the table of settings."""

import re
from itertools import groupby
from pathlib import Path

from aml_contract.config import SETTINGS

PAGE = Path(__file__).parents[2] / "docs" / "configuration.md"
_PLACE = re.compile(r"(<!-- settings -->\n).*?(<!-- end -->)", re.DOTALL)
_HEAD = "| setting | is | default | variable | what it does |\n| --- | --- | --- | --- | --- |\n"


def tables():
    """A table for each section."""
    parts = []
    for section, settings in groupby(SETTINGS, key=lambda setting: setting.section):
        rows = "".join(row(setting) for setting in settings)
        parts.append(f"### `[{section}]`\n\n{_HEAD}{rows}")
    return "\n".join(parts)


def row(setting):
    """A setting as a line."""
    kind = " or ".join(f"`{each}`" for each in setting.choices) or setting.kind.value
    if setting.repeatable and setting.choices:
        kind = f"a list of {kind}"
    default = f"`{setting.shown(setting.default)}`" if setting.default not in (None, ()) else ""
    cells = (f"`{setting.name}`", kind, default, f"`{setting.env}`", setting.help)
    return f"| {' | '.join(cells)} |\n"


def filled(text):
    """The page with its tables as they should be."""
    return _PLACE.sub(lambda match: f"{match[1]}\n{tables()}\n{match[2]}", text)
