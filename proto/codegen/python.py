"""Python modules from templates."""

from __future__ import annotations

import re
import subprocess
import sys
import textwrap
from functools import partial

from jinja2 import Environment, PackageLoader, StrictUndefined

from codegen import conversions, expressions
from codegen.contract import Contract, Kind, Scalar
from codegen.descriptors import MEMORY_PROTO

GENERATED = f"Generated from ``proto/{MEMORY_PROTO}`` by ``scripts/generate``; do not edit."
LINE_LENGTH = 100
MODULES = ("__init__", "models", "convert", "client", "router")


# "(clause A7)" stays on one line, where a search finds it.
_CLAUSE_GAP = re.compile(r"(?<=\bclause) |(?<=\bclauses) ")
_UNBROKEN = "\N{NO-BREAK SPACE}"


def modules(contract: Contract) -> dict[str, str]:
    """The text of each module by its file name."""
    environment = Environment(
        loader=PackageLoader("codegen"),
        autoescape=False,  # noqa: S701  what comes out is Python, not HTML
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        undefined=StrictUndefined,
    )
    environment.globals.update(_names(contract))
    return {
        f"{name}.py": formatted(environment.get_template(f"{name}.py.j2").render())
        for name in MODULES
    }


def formatted(source: str) -> str:
    """Python as ruff formats it, imports sorted; the project's own settings do not matter.

    Raises:
        subprocess.CalledProcessError: it is not Python.
    """
    ruff = [sys.executable, "-m", "ruff"]
    settings = ["--isolated", f"--config=line-length={LINE_LENGTH}", "--quiet"]
    sorts = ["check", "--select=I", "--fix", "--config=lint.isort.known-first-party=['aml_sdk']"]
    for command in ([*ruff, *sorts, *settings, "-"], [*ruff, "format", *settings, "-"]):
        source = subprocess.run(
            command, input=source, capture_output=True, check=True, text=True, encoding="utf-8"
        ).stdout
    return source


def docstring(text: str, indent: int = 0) -> str:
    """A docstring, wrapped for its place; only its first line lacks the indentation.

    A paragraph that starts with ``Raises:`` keeps its own lines.
    """
    margin = " " * indent
    wrapped = []
    for i, paragraph in enumerate(text.split("\n\n")):
        if paragraph.startswith("Raises:"):
            wrapped.append(textwrap.indent(paragraph, margin))
            continue
        quotes = 3 if i == 0 else 0
        lines = textwrap.wrap(
            _CLAUSE_GAP.sub(_UNBROKEN, paragraph),
            LINE_LENGTH - indent - quotes,
            break_long_words=False,
        )
        wrapped.append(textwrap.indent("\n".join(lines).replace(_UNBROKEN, " "), margin))
    body = "\n\n".join(wrapped).lstrip()
    closing = f"\n{margin}" if "\n" in body else ""
    return f'"""{body}{closing}"""'


def _names(contract: Contract) -> dict[str, object]:
    public = [message for message in contract.messages if message.kind is not Kind.BARE_LIST]
    annotation = partial(expressions.annotation, contract)
    return {
        "generated": GENERATED,
        "contract": contract,
        "posts": [op for op in contract.operations if op.method == "POST"],
        "health": next(op for op in contract.operations if op.method == "GET"),
        "messages": contract.messages,
        "public": public,
        "objects": [message for message in public if message.kind is Kind.OBJECT],
        "integers": [scalar for scalar in Scalar if scalar.integer],
        "used": " ".join(annotation(field) for message in public for field in message.fields),
        "annotation": annotation,
        "union": partial(expressions.union, contract),
        "docstring": docstring,
        "snake": conversions.snake,
        "model": partial(conversions.model, contract),
        "python_class": partial(conversions.python_class, contract),
        "to_proto": conversions.to_proto,
        "from_proto": conversions.from_proto,
    }
