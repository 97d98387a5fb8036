"""The declaration in an endpoint's file: ``[declaration]`` beside its settings."""

from __future__ import annotations

import types
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any, Literal, Union, get_args, get_origin

from pydantic.fields import FieldInfo

from aml_contract.certification.declaration.checklist import CHECKLIST
from aml_contract.certification.declaration.credentials import credential_in
from aml_contract.certification.declaration.model import Declaration
from aml_contract.config import ConfigError, Setting, files
from aml_contract.config.settings import Kind
from aml_contract.config.written import Section

_REVIEW = "review"
_KINDS: Mapping[Any, Kind] = {
    str: Kind.TEXT,
    int: Kind.WHOLE,
    float: Kind.NUMBER,
    list: Kind.TEXTS,
    dict: Kind.TABLE,
}


@cache
def fields() -> tuple[Setting, ...]:
    """The fields of the model as a file holds them: what is said of mistakes is the same."""
    return tuple(_field(name, info) for name, info in Declaration.model_fields.items())


def sections() -> tuple[Section, ...]:
    """What a new file has of a declaration: every field and row as a comment to take up."""
    infos = Declaration.model_fields
    stated = {each: infos[each.name].examples for each in fields() if each.name != _REVIEW}
    return (
        Section(
            "declaration",
            "What you state of the endpoint, for aml certify: what no request shows. "
            "A division needs its own fields alone.",
            {field: examples[0] for field, examples in stated.items() if examples},
        ),
        Section(
            f"declaration.{_REVIEW}",
            "Answers to what cannot be seen from outside.",
            {Setting(row.number, "declaration", row.question): row.example for row in CHECKLIST},
        ),
    )


def declaration_from(path: Path) -> Declaration:
    """What the file declares; nothing where it has no ``[declaration]``.

    Raises:
        ConfigError: it cannot be read, or holds what is no field, has another type, or is a
            credential. The message says where, and repeats no credential.
    """
    file = files.named(path)
    found = file.declared(fields())
    rows = [row.number for row in CHECKLIST]
    for row in dict(_answers(found)):
        if row not in rows:
            raise ConfigError(
                f"{found[_REVIEW].where}: there is no row {row} in "
                f"[{file.prefix}declaration.{_REVIEW}]; there are {', '.join(rows)}"
            )
    declaration = Declaration.model_validate({name: each.value for name, each in found.items()})
    for name, text in declaration.texts.items():
        if held := credential_in(text):
            where = found[name.partition(".")[0]].where
            raise ConfigError(
                f"{where}: {name} in [{file.prefix}declaration] holds what looks like {held}; "
                "declarations are shown to others, so take it out, and replace it where it is used"
            )
    return declaration


def _answers(found: Mapping[str, files.Entry]) -> Mapping[str, str]:
    answers = found[_REVIEW].value if _REVIEW in found else {}
    return answers if isinstance(answers, dict) else {}


def _field(name: str, info: FieldInfo) -> Setting:
    kind, choices = _type(info.annotation)
    return Setting(name, "declaration", info.description or "", kind=kind, choices=choices)


def _type(annotation: Any) -> tuple[Kind, tuple[str, ...]]:
    origin = get_origin(annotation)
    if origin is Literal:
        return Kind.TEXT, tuple(filter(None, get_args(annotation)))
    if origin in (Union, types.UnionType):
        return _type(get_args(annotation)[0])
    return _KINDS[origin or annotation], ()
