"""Resolution: each setting's value and where it came from, the strongest source first.

Flags, then ``AML_*`` variables, then ``aml.toml``, then ``[tool.aml]`` in ``pyproject.toml``,
then the default.
"""

from __future__ import annotations

import difflib
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from aml_contract.config import files
from aml_contract.config.settings import CHOOSERS, REPORT_FILES, SETTINGS, Setting
from aml_contract.config.values import from_words

DEFAULT = "default"


@dataclass(frozen=True)
class Value:
    """A setting's value and its origin: ``--url``, ``$AML_URL``, ``aml.toml:3``, ``default``."""

    setting: Setting
    value: Any
    origin: str = DEFAULT

    @property
    def shown(self) -> str:
        """The value as people write it."""
        return self.setting.shown(self.value)


@dataclass(frozen=True)
class Resolved(Mapping[str, Any]):
    """Values by the names of their settings."""

    by_name: Mapping[str, Value]
    files: tuple[str, ...] = ()
    """The files that were read, as shown."""
    empty: tuple[str, ...] = field(default=())
    """The ``AML_*`` variables that are set to nothing, which counts as not set."""
    misspelt: Mapping[str, str] = field(default_factory=dict)
    """Variables that are none of ours by a letter or two, and what was probably meant."""

    def __getitem__(self, name: str) -> Any:
        """The value of a setting."""
        return self.by_name[name].value

    def __iter__(self) -> Iterator[str]:
        """The names, in the order of the table."""
        return iter(self.by_name)

    def __len__(self) -> int:
        """How many settings there are."""
        return len(self.by_name)

    def origin(self, name: str) -> str:
        """Where a value came from."""
        return self.by_name[name].origin

    @property
    def given(self) -> list[Value]:
        """What is no default, in the order of the table."""
        return [each for each in self.by_name.values() if each.origin != DEFAULT]

    @property
    def remarks(self) -> list[str]:
        """What whoever set these should know, a sentence each."""
        return [
            f"${name} is no setting and changes nothing; did you mean ${meant}?"
            for name, meant in self.misspelt.items()
        ]

    @property
    def origins(self) -> dict[str, str]:
        """Where each value came from that is no default."""
        return {each.setting.name: each.origin for each in self.given}

    @property
    def report_files(self) -> dict[str, Path]:
        """The file of each format of the report that is asked for."""
        return {name: path for name in REPORT_FILES if (path := self.get(name))}

    @property
    def flags_name_endpoint(self) -> bool:
        """Whether the command line says which endpoint is meant."""
        return any(each.setting.names_endpoint and _is_flag(each.origin) for each in self.given)

    def recorded(self, words: Mapping[str, str], origin: str) -> Resolved:
        """What an earlier run used, in place of everything that no flag gives.

        Args:
            words: what its flags were, by the names of the settings.
            origin: where this is recorded.

        Raises:
            ConfigError: a value is none.
        """
        by_name = {}
        for name, each in self.by_name.items():
            setting = each.setting
            if _is_flag(each.origin):
                by_name[name] = each
            elif name in words:
                by_name[name] = Value(setting, from_words(setting, words[name], origin), origin)
            else:
                by_name[name] = Value(setting, setting.default)
        return Resolved(by_name)


def resolve(  # noqa: PLR0913  each is a source, or says where one is
    flags: Mapping[str, object],
    *,
    settings: Sequence[Setting] = SETTINGS,
    config: Path | None = None,
    look: bool = True,
    directory: Path | None = None,
    environ: Mapping[str, str] | None = None,
    flag_prefix: str = "--",
) -> Resolved:
    """The value of every setting.

    Args:
        flags: what the command line gave, by the settings' names: texts, lists of texts, and
            bools for switches; ``None`` and empty lists stand for flags that were not given.
        settings: those that are wanted; files and environment may hold others too.
        config: the one file to read, instead of those that are found.
        look: whether to look for files at all.
        directory: where looking for files begins; the working directory if not given.
        environ: the environment; that of the process if not given.
        flag_prefix: ``--aml-`` where pytest is the command.

    Raises:
        ConfigError: a value, a name or a file is wrong; the message says where.
    """
    environ = os.environ if environ is None else environ
    found = []
    if config:
        found = [files.named(config)]
    elif look:
        found = files.found_from((directory or Path()).absolute())
    layers = [
        _from_flags(flags, flag_prefix),
        _from_environment(environ),
        *(
            {name: (entry.value, entry.where) for name, entry in each.entries().items()}
            for each in found
        ),
    ]
    _drop_replaced(layers)
    values = {}
    for setting in settings:
        value, origin = next(
            (layer[setting.name] for layer in layers if setting.name in layer),
            (setting.default, DEFAULT),
        )
        values[setting.name] = Value(setting, value, origin)
    return Resolved(
        values,
        tuple(each.shown for each in found),
        tuple(s.env for s in settings if s.env in environ and not environ[s.env].strip()),
        _misspelt(environ),
    )


_SIMILAR = 0.9
"""How alike a name must be: the variables of memories begin with ``AML_`` too."""


def _misspelt(environ: Mapping[str, str]) -> dict[str, str]:
    known = [setting.env for setting in SETTINGS]
    strange = [name for name in environ if name.startswith("AML_") and name not in known]
    meant = {name: difflib.get_close_matches(name, known, 1, _SIMILAR) for name in strange}
    return {name: found[0] for name, found in meant.items() if found}


def _is_flag(origin: str) -> bool:
    return origin.startswith("--")


Layer = dict[str, tuple[Any, str]]


def _from_flags(flags: Mapping[str, object], prefix: str) -> Layer:
    layer = {}
    for setting in SETTINGS:
        words = flags.get(setting.name)
        if words is not None and words not in ([], ()):
            where = prefix + setting.flag.removeprefix("--")
            layer[setting.name] = (from_words(setting, words, where), where)
    return layer


def _from_environment(environ: Mapping[str, str]) -> Layer:
    return {
        setting.name: (from_words(setting, words, f"${setting.env}"), f"${setting.env}")
        for setting in SETTINGS
        if (words := environ.get(setting.env, "")).strip()
    }


def _drop_replaced(layers: list[Layer]) -> None:
    """Where a stronger source names another endpoint, weaker ones do not speak of theirs."""
    for at, layer in enumerate(layers):
        if not _names_endpoint(layer):
            continue
        for weaker in layers[at + 1 :]:
            for setting in SETTINGS:
                if setting.names_endpoint:
                    weaker.pop(setting.name, None)


def _names_endpoint(layer: Layer) -> bool:
    if not layer.keys().isdisjoint(CHOOSERS):
        return True
    urls = [layer[name][0] for name in ("add_url", "search_url") if name in layer]
    return len(urls) == 2 and not any(url.startswith("/") for url in urls)
