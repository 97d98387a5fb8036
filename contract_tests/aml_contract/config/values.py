"""Values: read from the words of a flag or a variable, or taken from a TOML file."""

from __future__ import annotations

import math
from pathlib import Path

from aml_contract.config.settings import Kind, Setting

_TRUE = frozenset({"1", "true", "yes", "on"})
_FALSE = frozenset({"0", "false", "no", "off"})


class ConfigError(ValueError):
    """A setting cannot be used as given; the message says where, and what to do."""


def from_words(setting: Setting, words: object, where: str) -> object:
    """The value of a flag or a variable.

    Args:
        setting: what it is for.
        words: a text; several for a repeatable flag; a bool for a switch of the command line.
        where: how messages name the place, as ``--seed`` or ``$AML_SEED``.

    Raises:
        ConfigError: it is none.
    """
    if isinstance(words, bool):
        return words
    if setting.kind is Kind.TEXTS:
        several = words.split(",") if isinstance(words, str) else list(_texts(words))
        return _allowed(setting, tuple(word.strip() for word in several if word.strip()), where)
    text = str(words).strip()
    try:
        return _allowed(setting, _parsed(setting.kind, text), where)
    except ValueError as error:
        if isinstance(error, ConfigError):
            raise
        raise ConfigError(f"{where} is {setting.kind.value}, not {text!r}") from None


def from_toml(setting: Setting, value: object, where: str, directory: Path) -> object:
    """The value that stands in a file; paths in it are relative to its directory.

    Raises:
        ConfigError: it has another type, or is not allowed.
    """
    kind = setting.kind
    fits = {
        Kind.TEXT: isinstance(value, str),
        Kind.PATH: isinstance(value, str),
        Kind.WHOLE: isinstance(value, int) and not isinstance(value, bool),
        Kind.NUMBER: isinstance(value, (int, float)) and not isinstance(value, bool),
        Kind.SWITCH: isinstance(value, bool),
        Kind.TEXTS: isinstance(value, list) and all(isinstance(each, str) for each in value),
        Kind.TABLE: isinstance(value, dict) and all(isinstance(v, str) for v in value.values()),
    }
    if not fits[kind]:
        found = repr(value) if isinstance(value, str) else _toml_words(value)
        raise ConfigError(f"{where} is {kind.value}, not {found}")
    if isinstance(value, str) and not value.strip():
        raise ConfigError(f"{where} is empty: give it a value, or take the line out")
    if kind is Kind.PATH:
        return directory / str(value)
    if kind is Kind.NUMBER:
        return _allowed(setting, float(str(value)), where)
    return _allowed(setting, tuple(_texts(value)) if kind is Kind.TEXTS else value, where)


def _toml_words(value: object) -> str:
    """What stands in a TOML file, other than a text, in words."""
    if isinstance(value, (bool, int, float)):
        return str(value).lower()
    if isinstance(value, (list, dict)):
        return "a list" if isinstance(value, list) else "a table"
    return "a date or a time"


def _parsed(kind: Kind, text: str) -> object:
    match kind:
        case Kind.WHOLE:
            return int(text)
        case Kind.NUMBER:
            return float(text)
        case Kind.SWITCH:
            if text.lower() not in _TRUE | _FALSE:
                raise ValueError(text)
            return text.lower() in _TRUE
        case Kind.PATH:
            return Path(text)
        case _:
            return text


def _allowed(setting: Setting, value: object, where: str) -> object:
    if setting.choices:
        for each in value if isinstance(value, tuple) else (value,):
            if each not in setting.choices:
                raise ConfigError(f"{where} is one of {', '.join(setting.choices)}, not {each!r}")
    if isinstance(value, float) and not math.isfinite(value):
        raise ConfigError(f"{where} is a finite number, not {value}")
    if setting.minimum is not None and isinstance(value, (int, float)) and value < setting.minimum:
        raise ConfigError(f"{where} must be at least {setting.minimum:g}, not {value:g}")
    return value


def _texts(value: object) -> list[str]:
    return [str(each) for each in value] if isinstance(value, (list, tuple)) else [str(value)]
