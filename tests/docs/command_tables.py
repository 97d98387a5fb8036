"""The option tables of docs/cli.md, made from the commands themselves."""

import re
from pathlib import Path

import typer

from aml_cli.main import app

PAGE = Path(__file__).parents[2] / "docs" / "cli.md"
_TABLE = re.compile(r"(<!-- options of aml ([\w ]+) -->\n).*?(<!-- end -->)", re.DOTALL)


def commands():
    """Every command of ``aml`` by name: ``check``, ``keys new``."""
    found = {}
    for name, command in typer.main.get_command(app).commands.items():
        inner = getattr(command, "commands", {})
        found |= {f"{name} {each}": inner[each] for each in inner} or {name: command}
    return found


def table(command):
    """Arguments and options of a command as a Markdown table."""
    context = typer.Context(command)
    rows = ["| option | what it does |", "| --- | --- |"]
    for parameter in command.params:
        if parameter.param_type_name == "option":
            name, text = parameter.get_help_record(context)
        else:
            name, text = parameter.get_usage_pieces(context)[0], parameter.help or ""
        cells = [f"`{' '.join(name.split())}`", " ".join(text.split())]
        rows.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
    return "\n".join(rows) + "\n"


def filled(text):
    """The page with every table as it should be."""
    known = commands()
    return _TABLE.sub(lambda m: f"{m[1]}\n{table(known[m[2]])}\n{m[3]}", text)
