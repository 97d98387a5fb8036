"""Settings in files: ``aml.toml``, and ``[tool.aml]`` in ``pyproject.toml``."""

from __future__ import annotations

import difflib
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from aml_contract.config.settings import SETTINGS, Setting
from aml_contract.config.values import ConfigError, from_toml

NAME = "aml.toml"
PYPROJECT = "pyproject.toml"

_SECRETS = re.compile(
    r"key|(api|auth)[_-]?key|((auth|bearer)[_-]?)?token|secret|password|bearer", re.IGNORECASE
)
_DECLARATION = "declaration"
_SECTIONS = (*dict.fromkeys(setting.section for setting in SETTINGS), _DECLARATION)


@dataclass(frozen=True)
class Entry:
    """A value that stands in a file, and where."""

    value: object
    where: str
    """The file as seen from the working directory, and the line if it was found."""


@dataclass(frozen=True)
class ConfigFile:
    """A file with settings. ``prefix`` is what its sections are named with, ``tool.aml.``."""

    path: Path
    prefix: str = ""

    @property
    def shown(self) -> str:
        """Its path, relative to the working directory where that is shorter."""
        try:
            relative = os.path.relpath(self.path)
        except ValueError:  # another drive
            return str(self.path)
        return min(relative, str(self.path), key=len)

    def entries(self) -> dict[str, Entry]:
        """The settings in it, by name. What it declares is not looked at.

        Raises:
            ConfigError: it cannot be read, or holds something that is no setting.
        """
        text = self._text()
        tables = self._tables(text)
        found: dict[str, Entry] = {}
        for section, table in tables.items():
            for key, value in self._keys(section, table, text):
                if section != _DECLARATION:
                    found[key] = self._entry(section, key, value, text)
        return found

    def declared(self, fields: Sequence[Setting]) -> dict[str, Entry]:
        """What stands in ``[declaration]``, by the names of the fields.

        Args:
            fields: those that there are; the kit's upper floors know them.

        Raises:
            ConfigError: it cannot be read, or holds something that is no field.
        """
        text = self._text()
        table = self._tables(text).get(_DECLARATION, {})
        keys = self._keys(_DECLARATION, table, text)
        return {key: self._entry(_DECLARATION, key, value, text, fields) for key, value in keys}

    def _entry(
        self, section: str, key: str, value: object, text: str, fields: Sequence[Setting] = ()
    ) -> Entry:
        setting = self._setting(section, key, text, (*fields, *SETTINGS))
        where = self._where(text, section, key)
        name = f"{where}: {key} in [{self.prefix}{section}]"
        if setting.name == "key_env":
            _refuse_literal_key(value, name)
        return Entry(from_toml(setting, value, name, self.path.parent), where)

    def _text(self) -> str:
        try:
            return self.path.read_text(encoding="utf-8-sig")
        except OSError as error:
            raise ConfigError(f"{self.shown} cannot be read: {error.strerror}") from error
        except UnicodeDecodeError as error:
            raise ConfigError(f"{self.shown} is no UTF-8 text") from error

    def _tables(self, text: str) -> Mapping[str, Any]:
        import tomllib  # noqa: PLC0415  only where there is a file

        try:
            document: Mapping[str, Any] = tomllib.loads(text)
        except tomllib.TOMLDecodeError as error:
            raise ConfigError(
                f'{self.shown} is no TOML: {error}; texts stand in quotes, as in url = "http://…"'
            ) from error
        for part in filter(None, self.prefix.split(".")):
            document = document.get(part) or {}
        return document

    def _keys(self, section: str, table: object, text: str) -> Iterator[tuple[str, object]]:
        """The keys of a section that there is; a key without a section is told its own."""
        if section in _SECTIONS and isinstance(table, dict):
            yield from table.items()
            return
        where = self._where(text, "", section)
        if _SECRETS.fullmatch(section):
            raise ConfigError(_no_key_in_files(where, section))
        for setting in SETTINGS:
            if setting.name == section.replace("-", "_"):
                raise ConfigError(
                    f"{where}: {section} belongs in the section [{self.prefix}{setting.section}]"
                )
        what = f"[{self.prefix}{section}]" if isinstance(table, dict) else section
        raise ConfigError(
            f"{where}: there is no {what}"
            f"{_nearest(section, _SECTIONS, f'[{self.prefix}', ']')}; "
            f"there are {', '.join(f'[{self.prefix}{each}]' for each in _SECTIONS)}"
        )

    def _setting(self, section: str, key: str, text: str, known: Sequence[Setting]) -> Setting:
        where = self._where(text, section, key)
        called_so = {setting.section: setting for setting in known if setting.name == key}
        if section in called_so:
            return called_so[section]
        for other in called_so:
            raise ConfigError(
                f"{where}: {key} belongs in [{self.prefix}{other}], not in [{self.prefix}{section}]"
            )
        if _SECRETS.fullmatch(key):
            raise ConfigError(_no_key_in_files(where, key))
        names = [setting.name for setting in known if setting.section == section]
        others = [setting.name for setting in known if setting.section != section]
        there = f"; there are {', '.join(names)}"
        hint = _nearest(key, names) or _nearest(key, others) or there
        raise ConfigError(f"{where}: there is no setting {key} in [{self.prefix}{section}]{hint}")

    def _where(self, text: str, section: str, key: str) -> str:
        """``aml.toml:7``, or the file alone where the line is not found."""
        inside = not section
        table = f"{self.prefix}{section}".rstrip(".")
        for number, line in enumerate(text.splitlines(), 1):
            if header := re.match(r"\s*\[+\s*([^\]]+?)\s*\]", line):
                inside = header[1].replace(" ", "") == table
                if header[1].replace(" ", "") == f"{table}.{key}".lstrip("."):
                    return f"{self.shown}:{number}"
            elif inside and re.match(rf"\s*[\"']?{re.escape(key)}[\"']?\s*=", line):
                return f"{self.shown}:{number}"
        return self.shown


def found_from(directory: Path) -> list[ConfigFile]:
    """The files that hold for a directory, the stronger first.

    The nearest ``aml.toml``, and the nearest ``pyproject.toml`` that has ``[tool.aml]``, in
    the directory or in one above it.
    """
    above = [directory, *directory.parents]
    files = [ConfigFile(path) for at in above if (path := at / NAME).is_file()][:1]
    for at in above:
        if (path := at / PYPROJECT).is_file() and _has_section(path):
            return [*files, ConfigFile(path, "tool.aml.")]
    return files


def named(path: Path) -> ConfigFile:
    """The file that ``--config`` names.

    Raises:
        ConfigError: there is none.
    """
    if not path.is_file():
        raise ConfigError(f"--config {path}: there is no such file")
    return ConfigFile(path, "tool.aml." if path.name == PYPROJECT else "")


def _has_section(path: Path) -> bool:
    """Whether a ``pyproject.toml`` speaks of us; one that is broken is not ours to judge."""
    try:
        return "tool.aml" in path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError):
        return False


def _nearest(
    name: str, known: tuple[str, ...] | list[str], before: str = "", after: str = ""
) -> str:
    close = difflib.get_close_matches(name.lower().replace("-", "_"), known, 1, 0.6)
    return f"; did you mean {before}{close[0]}{after}?" if close else ""


def _refuse_literal_key(value: object, where: str) -> None:
    """What is no name of a variable is taken for the key, and is not repeated."""
    if isinstance(value, str) and not re.fullmatch(r"[A-Za-z_]\w*", value, re.ASCII):
        raise ConfigError(
            f"{where} is the name of an environment variable, as MY_KEY; the key itself "
            "stays in that variable and out of files"
        )


def _no_key_in_files(where: str, key: str) -> str:
    return (
        f"{where}: {key} is refused, a key does not belong in a file. Put it into an "
        'environment variable and name that: key_env = "MY_KEY" in [endpoint]'
    )
