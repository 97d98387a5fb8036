"""Commands that take settings: their options are made from the one table of settings."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer

from aml_cli.running import usage_error
from aml_contract.config import ConfigError, Setting, resolve, settings_of

_CONFIG_HELP = "Read this file, instead of the nearest aml.toml and pyproject.toml."

Command = Callable[..., None]


def configured(*names: str, files: bool = True) -> Callable[[Command], Command]:
    """Give a command the options of these sections and settings, and ``--config``.

    The command has a parameter ``settings``, a :class:`aml_contract.config.Resolved`, in
    place of those options. Other parameters are its own, as typer knows them.

    Args:
        names: sections (``endpoint``) and settings (``seed``) of the table.
        files: whether files are read too; without them there is no ``--config``.
    """
    settings = settings_of(*names)

    def decorate(command: Command) -> Command:
        own = inspect.signature(command, eval_str=True)

        @functools.wraps(command)
        def with_settings(*, config: Path | None = None, **given: Any) -> None:
            flags = {setting.name: given.pop(setting.name) for setting in settings}
            try:
                resolved = resolve(flags, settings=settings, config=config, look=files)
            except ConfigError as error:
                usage_error(str(error))
            command(settings=resolved, **given)

        parameters = [
            *(each for each in own.parameters.values() if each.name != "settings"),
            *(_parameter(setting) for setting in settings),
        ]
        if files:
            option = typer.Option(metavar="FILE", help=_CONFIG_HELP)
            parameters.append(_keyword("config", Path, option))
        # What typer looks at, in place of the signature and the annotations of the wrapper.
        vars(with_settings)["__signature__"] = inspect.Signature(
            [each.replace(kind=inspect.Parameter.KEYWORD_ONLY) for each in parameters]
        )
        with_settings.__annotations__ = {each.name: each.annotation for each in parameters}
        return with_settings

    return decorate


def _parameter(setting: Setting) -> inspect.Parameter:
    """A setting as an option. What is not given is ``None``; values are read by the table."""
    flag = setting.flag
    option = typer.Option(
        f"{flag}/--no-{flag.removeprefix('--')}" if setting.is_switch else flag,
        metavar=None if setting.is_switch else setting.shown_metavar,
        help=setting.help_line,
        rich_help_panel=setting.section.capitalize(),
    )
    kind = bool if setting.is_switch else list[str] if setting.repeatable else str
    return _keyword(setting.name, kind, option)


def _keyword(name: str, kind: Any, option: Any) -> inspect.Parameter:
    return inspect.Parameter(
        name,
        inspect.Parameter.KEYWORD_ONLY,
        default=None,
        annotation=Annotated[kind | None, option],
    )
