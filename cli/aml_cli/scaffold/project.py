"""Writes a project from the template: every file of it, with the names filled in.

Variables stand between guillemets, ``«package»``: unlike braces and brackets they mean
nothing in TOML, YAML, Python, shell and Dockerfiles. A directory ``PACKAGE`` becomes the
package's; the ending ``.jinja`` goes.
"""

from __future__ import annotations

from collections.abc import Iterator
from importlib.metadata import version
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path, PurePosixPath

from jinja2 import Environment, StrictUndefined

from aml_cli.scaffold.names import Names
from aml_cli.scaffold.pins import installed_pins

_ENDING = ".jinja"


class NoRoomError(Exception):
    """The directory cannot be written to, or holds something already."""


def write_project(names: Names, directory: Path) -> list[Path]:
    """Write every file into the directory, which is made; their paths within it.

    Raises:
        NoRoomError: it is no empty directory, or cannot be made.
    """
    contents = dict(_rendered(names))
    try:
        directory.mkdir(parents=True, exist_ok=True)
        if any(directory.iterdir()):
            raise NoRoomError(f"{directory} is not empty; nothing was written")
        for path, text in contents.items():
            whole = directory / path
            whole.parent.mkdir(parents=True, exist_ok=True)
            whole.write_text(text, encoding="utf-8", newline="\n")
    except OSError as error:
        raise NoRoomError(f"{error.filename or directory}: {error.strerror}") from error
    return [Path(path) for path in sorted(contents)]


def _rendered(names: Names) -> Iterator[tuple[str, str]]:
    environment = Environment(
        variable_start_string="«",
        variable_end_string="»",
        block_start_string="«%",
        block_end_string="%»",
        comment_start_string="«#",
        comment_end_string="#»",
        undefined=StrictUndefined,
        keep_trailing_newline=True,
        autoescape=False,  # noqa: S701  the files are no HTML
    )
    kit = version("aml-contract")
    major, minor = (int(part) for part in kit.split(".")[:2])
    values = {
        "project": names.project,
        "package": names.package,
        "class_name": names.class_name,
        "system": names.system,
        "kit": f">={major}.{minor},<{major}.{minor + 1}",
        "pins": installed_pins("aml-contract[server]"),
    }
    for path, template in _templates(files("aml_cli.scaffold") / "template"):
        text = environment.from_string(template.read_text(encoding="utf-8")).render(values)
        yield path.replace("PACKAGE", names.package).removesuffix(_ENDING), text


def _templates(root: Traversable, at: str = "") -> Iterator[tuple[str, Traversable]]:
    for each in root.iterdir():
        path = str(PurePosixPath(at, each.name))
        if each.is_dir():
            yield from _templates(each, path)
        elif each.name.endswith(_ENDING):
            yield path, each
