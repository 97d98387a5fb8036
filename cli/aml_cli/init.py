"""``aml init``: write an ``aml.toml`` by asking the endpoint a few harmless questions."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from aml_cli.options import configured
from aml_cli.running import usage_error
from aml_cli.writing import write_file
from aml_contract.config import Resolved
from aml_contract.config.settings import CHOOSERS

if TYPE_CHECKING:
    from aml_contract.config.asking import Answers
    from aml_contract.config.written import Section
    from aml_contract.endpoint.target import Target

_TIMEOUT = 10.0


@configured("endpoint", files=False)
def init(
    settings: Resolved,
    output: Annotated[
        Path, typer.Option(metavar="FILE", help="Where to write it.", show_default=False)
    ] = Path("aml.toml"),
    force: Annotated[bool, typer.Option("--force", help="Overwrite the file.")] = False,
    declaration: Annotated[
        bool,
        typer.Option("--declaration", help="Write a [declaration] to fill in, for aml certify."),
    ] = False,
) -> None:
    """Write an aml.toml by asking the endpoint a few harmless questions.

    It looks where Add, Search and health answer and how the key travels. Nothing is stored:
    Add is sent an empty object alone, Search asks for a user whom nobody has.

    Exit codes: 0 written, 2 usage, or the file is there, 3 error of the kit or the file
    could not be written, 4 nothing answers (nothing is written), 130 interrupted.
    """
    from urllib.parse import unquote

    from aml_cli.running import until_interrupted
    from aml_contract.config.written import toml_text

    if output.exists() and not force:
        usage_error(f"{output} is there already; --force overwrites it, --output names another")
    given = {each.setting.name: each.value for each in settings.given}
    if not any(map(given.get, (*CHOOSERS, "add_url"))):
        given |= _prompted()
    if "url" in given:  # also where the whole Add URL is given
        given["url"] = given["url"].rstrip("/").removesuffix("/add")
    key = os.environ.get(given.get("key_env") or "", "").strip()
    if given.get("key_env") and not key:
        typer.echo(f"aml: ${given['key_env']} is empty or not set; asking without a key", err=True)
    if key and any(key in unquote(value) for name, value in given.items() if name.endswith("url")):
        usage_error("a URL holds the key; keys belong in a header (clause K3)")
    target = _target(given)
    answers: list[Answers] = []

    async def ask() -> None:
        answers.append(await _ask(target, given, key))

    until_interrupted(ask())
    if not answers:
        raise typer.Exit(130)
    (found,) = answers
    values = _values(given, found, managed=target.managed)
    further = _declaration() if declaration else ()
    written = f"Written by aml init, which asked {found.asked} questions and stored nothing."
    if code := write_file(output, toml_text(values, [written, *found.remarks], further)):
        raise typer.Exit(code)
    _print_result(output, found)


def _declaration() -> tuple[Section, ...]:
    from aml_contract.certification.declaration.file import sections

    return sections()


def _prompted() -> dict[str, Any]:
    """What a person at a terminal answers.

    Raises:
        typer.Exit: with code 2 where nobody can be asked.
    """
    if not sys.stdin.isatty():
        usage_error("which endpoint? give --url, or one of --cmd, --app and --system")
    given: dict[str, Any] = {}
    if url := typer.prompt(
        "URL of your endpoint (empty: the kit starts it)", "", show_default=False
    ):
        given["url"] = url.strip()
    else:
        given["cmd"] = typer.prompt("Command that starts it, with {port} and perhaps {data} in it")
    if name := typer.prompt("Variable that holds its key (empty: none)", "", show_default=False):
        given["key_env"] = name.strip()
    return given


def _target(given: dict[str, Any]) -> Target:
    from aml_contract.endpoint.target import Target, TargetError

    fields = {"data_dir" if name == "data" else name: value for name, value in given.items()}
    for name in ("auth", "key_env"):  # the schemes are tried one after another
        fields.pop(name, None)
    try:
        return Target(**fields, timeout=_TIMEOUT)
    except TargetError as error:
        usage_error(str(error))


async def _ask(target: Target, given: dict[str, Any], key: str) -> Answers:
    from aml_contract.config.asking import Asking
    from aml_contract.endpoint.http import Unreachable, open_endpoint

    try:
        async with open_endpoint(target, say=typer.echo) as endpoint:
            urls = endpoint.urls
            known = bool(given.get("add_url") and given.get("search_url"))
            base = _origin(urls.add) if known else urls.add.removesuffix("/add")
            typer.echo("Asking, and storing nothing:")
            return await Asking(endpoint, base, key, _say).all(
                urls.add if known else None,
                urls.search if known else None,
                urls.health if given.get("health_url") else None,
            )
    except Unreachable as error:
        typer.echo(f"aml: {error}\nNothing was written.", err=True)
        raise typer.Exit(4) from error


def _origin(url: str) -> str:
    from urllib.parse import urlsplit

    return "{0.scheme}://{0.netloc}".format(urlsplit(url))


def _say(line: str) -> None:
    typer.echo(f"  {line}")


def _values(given: dict[str, Any], found: Answers, *, managed: bool) -> dict[str, object]:
    """What is written: what was given, and what the endpoint said."""
    from urllib.parse import urlsplit

    values = {name: str(value) for name, value in given.items() if name in (*CHOOSERS, "data")}
    base = (found.add or "").removesuffix("/add")
    usual = found.search == f"{base}/search" and found.health in (f"{base}/health", None)
    named = not urlsplit(base).path if managed else values.get("url") == base
    if found.add and found.search and not (usual and named):
        values.pop("url", None)
        urls = {"add_url": found.add, "search_url": found.search, "health_url": found.health}
        for name, url in urls.items():
            if url:
                values[name] = urlsplit(url).path if managed else url
    key_was_named = "key_env" in given or given.get("auth", "none") != "none"
    if found.wants_key or (key_was_named and not found.add):  # then nothing has said otherwise
        values["auth"] = str(found.scheme or given.get("auth") or "bearer")
        values["key_env"] = given.get("key_env") or "MY_KEY"
    return dict(values)


def _print_result(output: Path, found: Answers) -> None:
    if not found.add:
        typer.echo(
            "aml: Add was found at none of the usual paths; write add_url and search_url into "
            f"{output} yourself",
            err=True,
        )
    for remark in found.remarks:
        typer.echo(f"Note: {remark}")
    named = "" if output == Path("aml.toml") else f" --config {output}"
    after = "Next" if found.add else "When it names Add and Search"
    typer.echo(
        f"{output} is written, after {found.asked} questions. {after}:\n  aml check --quick{named}"
    )
