"""The options that name an endpoint, shared by the commands that talk to one."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NoReturn

import typer

if TYPE_CHECKING:
    from aml_contract.endpoint.target import Target

_ENDPOINT = "Endpoint"
_KEY = "Key"
_HOOKS = "Hooks"

Url = Annotated[
    str | None,
    typer.Option(
        "--url",
        metavar="BASE",
        help="A running endpoint: BASE/add, BASE/search and BASE/health.",
        rich_help_panel=_ENDPOINT,
    ),
]
AddUrl = Annotated[
    str | None,
    typer.Option(
        "--add-url",
        metavar="URL",
        help="The Add URL, where it is no BASE/add. A path with --cmd, --app and --system.",
        rich_help_panel=_ENDPOINT,
    ),
]
SearchUrl = Annotated[
    str | None,
    typer.Option("--search-url", metavar="URL", help="The Search URL.", rich_help_panel=_ENDPOINT),
]
HealthUrl = Annotated[
    str | None,
    typer.Option(
        "--health-url",
        metavar="URL",
        help="The health URL; /health on the Add URL's origin if not given.",
        rich_help_panel=_ENDPOINT,
    ),
]
Cmd = Annotated[
    str | None,
    typer.Option(
        "--cmd",
        metavar="COMMAND",
        help="A shell command that starts a server; {port} and {data} are filled in. "
        "The kit starts, kills and restarts it.",
        rich_help_panel=_ENDPOINT,
    ),
]
App = Annotated[
    str | None,
    typer.Option(
        "--app",
        metavar="MODULE:APP",
        help="An ASGI application, served by uvicorn.",
        rich_help_panel=_ENDPOINT,
    ),
]
System = Annotated[
    str | None,
    typer.Option(
        "--system",
        metavar="MODULE:CLASS",
        help="A MemorySystem, or the name of an installed one, served by `aml serve`.",
        rich_help_panel=_ENDPOINT,
    ),
]
Data = Annotated[
    Path | None,
    typer.Option(
        "--data",
        metavar="DIR",
        help="Where a started server keeps its data; a temporary directory if not given.",
        rich_help_panel=_ENDPOINT,
    ),
]
AuthScheme = Annotated[
    str,
    typer.Option(
        "--auth",
        metavar="bearer|token|x-api-key|none",
        help="How the key travels.",
        rich_help_panel=_KEY,
    ),
]
KeyEnv = Annotated[
    str | None,
    typer.Option(
        "--key-env",
        metavar="VAR",
        help="The environment variable that holds the key.",
        rich_help_panel=_KEY,
    ),
]
Concurrency = Annotated[
    int,
    typer.Option(
        "--concurrency",
        metavar="N",
        help="Requests in flight at most.",
        rich_help_panel=_ENDPOINT,
    ),
]
AddConcurrency = Annotated[
    int | None,
    typer.Option(
        "--add-concurrency",
        metavar="N",
        help="Adds in flight under load/*, as declared; --concurrency if not given.",
        rich_help_panel=_ENDPOINT,
    ),
]
SearchConcurrency = Annotated[
    int | None,
    typer.Option(
        "--search-concurrency",
        metavar="N",
        help="Searches in flight under load/*, beside the Adds; --concurrency if not given.",
        rich_help_panel=_ENDPOINT,
    ),
]
Timeout = Annotated[
    float,
    typer.Option(
        "--timeout",
        metavar="SECONDS",
        help="How long one answer may take.",
        rich_help_panel=_ENDPOINT,
    ),
]
RestartCmd = Annotated[
    str | None,
    typer.Option(
        "--restart-cmd",
        metavar="COMMAND",
        help="Restarts a remote server, so that what needs a restart can be tried.",
        rich_help_panel=_HOOKS,
    ),
]
FaultCmd = Annotated[
    str | None,
    typer.Option(
        "--fault-cmd",
        metavar="COMMAND",
        help="Breaks what the server depends on; {port} and {data} as in --cmd.",
        rich_help_panel=_HOOKS,
    ),
]
HealCmd = Annotated[
    str | None,
    typer.Option(
        "--heal-cmd",
        metavar="COMMAND",
        help="Undoes --fault-cmd; run on every way out, also where nothing is broken.",
        rich_help_panel=_HOOKS,
    ),
]


def make_target(**given: Any) -> Target:
    """The target of these options; the key is read from its variable.

    Args:
        given: the fields of :class:`aml_contract.endpoint.target.Target`.

    Raises:
        typer.Exit: with code 2, the reason printed, if they make no sense.
    """
    from aml_contract.endpoint.target import Target, TargetError

    try:
        return Target.keyed_by_environment(**given)
    except TargetError as error:
        usage_error(str(error))


def usage_error(message: str) -> NoReturn:
    """Say what was wrong with the command line and leave with code 2.

    Raises:
        typer.Exit: always.
    """
    typer.echo(f"aml: {message}", err=True)
    raise typer.Exit(2)
