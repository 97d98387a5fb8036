"""The inputs of the action as a table of docs/howto/ci.md, made from action.yml."""

import re

import yaml

from tests.docs.pages import ROOT

PAGE = ROOT / "docs" / "howto" / "ci.md"
_TABLE = re.compile(r"(<!-- inputs of the action -->\n).*?(<!-- end -->)", re.DOTALL)


def table():
    rows = ["| input | what it is |", "| --- | --- |"]
    for name, given in yaml.safe_load((ROOT / "action.yml").read_text())["inputs"].items():
        default = f" Default: `{given['default']}`." if given.get("default") else ""
        rows.append(f"| `{name}` | {given['description']}{default} |")
    return "\n".join(rows)


def filled(text):
    """The page with the table as it should be."""
    return _TABLE.sub(lambda match: f"{match[1]}\n{table()}\n\n{match[2]}", text)
