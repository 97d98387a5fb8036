"""A new ``aml.toml``: what is known, and every other setting as a comment to take up."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from aml_contract.config.settings import SETTINGS, Kind, Setting

_WIDTH = 96
_SECTIONS = {
    "endpoint": "Which endpoint, in exactly one way: url; or add_url with search_url; or one of "
    "cmd, app and system, which the kit starts, kills and restarts.",
    "capabilities": "What the endpoint claims.",
    "hooks": "Commands that restart, break and mend what the kit did not start.",
    "limits": "Declared capacity, and times in seconds.",
    "run": "Which rules.",
    "report": "What becomes of the result.",
}
_EXAMPLES: Mapping[str, object] = {
    "url": "http://127.0.0.1:8080",
    "add_url": "http://127.0.0.1:8080/v1/add",
    "search_url": "http://127.0.0.1:8080/v1/search",
    "health_url": "http://127.0.0.1:8080/health",
    "cmd": "my-server --port {port} --data {data}",
    "app": "my_package.main:app",
    "system": "my_package.memory:MyMemory",
    "data": "data",
    "key_env": "MY_KEY",
    "without": ["verbatim"],
    "restart_cmd": "docker restart my-memory",
    "fault_cmd": "docker stop database",
    "heal_cmd": "docker start database",
    "add_concurrency": 16,
    "search_concurrency": 16,
    "time": 600.0,
    "only": ["isolation"],
    "seed": 7,
    "junit": "report.xml",
    "markdown": "report.md",
}


@dataclass(frozen=True)
class Section:
    """A section that is no settings, all of it comments to take up."""

    name: str
    about: str
    examples: Mapping[Setting, object]
    """What can stand in it, and as what."""


def toml_text(
    values: Mapping[str, object],
    remarks: Sequence[str] = (),
    further: Sequence[Section] = (),
) -> str:
    """The text of the file.

    Args:
        values: what is known, by the settings' names.
        remarks: what to say at its top.
        further: sections after those of settings.
    """
    lines = [
        "# Settings of aml check, aml smoke, aml reproduce and pytest --aml-contract.",
        "# Flags are stronger than AML_* variables, and those than this file.",
        "# No key in here: key_env names the environment variable that holds it.",
    ]
    for remark in remarks:
        lines += _comment(remark, "# - ", "#   ")
    for section, about in _SECTIONS.items():
        lines += ["", f"[{section}]", *_comment(about), ""]
        for setting in SETTINGS:
            if setting.section == section:
                lines += _entry(setting, values, _example(setting))
    for one in further:
        lines += ["", f"[{one.name}]", *_comment(one.about), ""]
        for setting, example in one.examples.items():
            lines += _entry(setting, {}, example)
    return "\n".join(lines) + "\n"


def _entry(setting: Setting, values: Mapping[str, object], example: object) -> Iterator[str]:
    yield from _comment(setting.help)
    if setting.choices:
        yield from _comment(f"One of {', '.join(setting.choices)}.")
    if setting.name in values:
        yield f"{setting.name} = {_written(values[setting.name])}"
    else:
        yield f"# {setting.name} = {_written(example)}"


def _example(setting: Setting) -> object:
    if setting.name in _EXAMPLES:
        return _EXAMPLES[setting.name]
    if setting.kind is Kind.PATH:
        return f"report.{setting.name}"
    return setting.default


def _written(value: object) -> str:
    """A value as TOML; JSON's strings, numbers and lists are TOML's too."""
    if isinstance(value, float):
        return f"{value:g}"
    return json.dumps(value, ensure_ascii=False)


def _comment(text: str, first: str = "# ", other: str = "# ") -> list[str]:
    return textwrap.wrap(text, _WIDTH, initial_indent=first, subsequent_indent=other)
