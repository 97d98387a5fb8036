"""A target: what the user asked to be judged, checked before anything is sent."""

from __future__ import annotations

import os
import re
import shlex
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from aml_contract.endpoint.auth import Auth, Scheme
from aml_contract.endpoint.tls import TrustError, tls_context


class TargetError(ValueError):
    """The target cannot be used as given: a mistake of usage, said in one sentence."""


@dataclass(frozen=True)
class URLs:
    """The three addresses of an endpoint, registered separately (clauses E2, E3)."""

    add: str
    search: str
    health: str


@dataclass(frozen=True)
class Target:
    """One endpoint by its URLs, or a command that starts one.

    Exactly one of ``url``, ``add_url`` with ``search_url``, ``cmd``, ``app`` and
    ``system`` names it; beside the last three, ``add_url``, ``search_url`` and
    ``health_url`` may give paths (``/v1/add``) on the managed server.

    ``cmd`` is a shell command; ``{port}`` and ``{data}`` become a free port and a data
    directory. ``app`` (``pkg.mod:app``, ASGI) and ``system`` (``pkg.mod:Class``) are
    short for one. Times are in seconds.

    Raises:
        TargetError: the combination makes no sense; the message says why.
    """

    url: str | None = None
    add_url: str | None = None
    search_url: str | None = None
    health_url: str | None = None
    cmd: str | None = None
    app: str | None = None
    system: str | None = None
    data_dir: Path | None = None
    """Where a managed server keeps its data; a temporary directory if not given."""
    auth: Scheme | str = Scheme.NONE
    key: str | None = field(default=None, repr=False)
    key_env: str | None = None
    """Name of the environment variable that holds the key (never the key itself)."""
    concurrency: int = 16
    """Requests in flight at most, Adds and Searches together."""
    add_concurrency: int | None = None
    """Adds in flight under ``load/*``, as declared (clause L1); ``concurrency`` if not given."""
    search_concurrency: int | None = None
    """Searches in flight under ``load/*``, beside the Adds; ``concurrency`` if not given."""
    restart_cmd: str | None = None
    fault_cmd: str | None = None
    heal_cmd: str | None = None
    timeout: float = 1800.0
    """How long an answer may take (clause F2)."""
    connect_timeout: float = 10.0
    start_timeout: float = 60.0
    """How long a managed server may take until it listens."""
    ready_timeout: float = 30.0
    """How long a server that listens may answer 5xx on health before rules start anyway."""

    def __post_init__(self) -> None:
        self._check_choice()
        self._check_key()
        for url in (self.url, *self._given_urls()):
            if url is not None:
                self._check_url(url)
        if self.managed and self.data_dir is not None:
            self._check_data(self.data_dir)
        if self.concurrency < 1:
            raise TargetError("the concurrency must be at least 1")
        if bool(self.fault_cmd) != bool(self.heal_cmd):
            raise TargetError("--fault-cmd and --heal-cmd belong together")
        if any(n is not None and n < 1 for n in (self.add_concurrency, self.search_concurrency)):
            raise TargetError("the concurrency of Adds and of Searches must be at least 1")
        if self.managed and self.restart_cmd:
            raise TargetError("--restart-cmd is for remote endpoints; the kit restarts its own")

    @classmethod
    def keyed_by_environment(cls, **given: Any) -> Target:
        """The target with these fields; the key is read from the variable ``key_env``.

        Raises:
            TargetError: the combination makes no sense; the message says why.
        """
        variable = given.get("key_env")
        return cls(key=os.environ.get(variable) if variable else None, **given)

    @property
    def managed(self) -> bool:
        """Whether the kit starts the server itself."""
        return bool(self.cmd or self.app or self.system)

    @property
    def kind(self) -> str:
        """``url``, ``cmd``, ``app`` or ``system``."""
        return "cmd" if self.cmd else "app" if self.app else "system" if self.system else "url"

    @property
    def flags(self) -> list[str]:
        """The options that name this target again; the key only by its variable."""
        named: dict[str, object] = {
            "--url": self.url,
            "--add-url": self.add_url,
            "--search-url": self.search_url,
            "--health-url": self.health_url,
            "--cmd": self.cmd,
            "--app": self.app,
            "--system": self.system,
            "--data": self.data_dir,
            "--auth": None if Scheme(self.auth) is Scheme.NONE else str(self.auth),
            "--key-env": self.key_env,
            "--restart-cmd": self.restart_cmd,
            "--fault-cmd": self.fault_cmd,
            "--heal-cmd": self.heal_cmd,
        }
        flags = [word for name, value in named.items() if value for word in (name, str(value))]
        if self.concurrency != 16:
            flags += ["--concurrency", str(self.concurrency)]
        if self.add_concurrency is not None:
            flags += ["--add-concurrency", str(self.add_concurrency)]
        if self.search_concurrency is not None:
            flags += ["--search-concurrency", str(self.search_concurrency)]
        if self.timeout != 1800:
            flags += ["--timeout", f"{self.timeout:g}"]
        return flags

    @property
    def credentials(self) -> Auth:
        """The scheme and key as rules and reports see them."""
        return Auth(Scheme(self.auth), self.key or "")

    @property
    def command(self) -> str | None:
        """The command of a managed server, ``{port}`` and ``{data}`` still in it."""
        python = shlex.quote(sys.executable)
        if self.app:
            return f"{python} -m uvicorn {shlex.quote(self.app)} --port {{port}}"
        if self.system:
            made = f"{python} -m aml_cli.main serve {shlex.quote(self.system)}"
            made += " --port {port} --data {data}"
            if Scheme(self.auth) is not Scheme.NONE and self.key_env:
                made += f" --auth {Scheme(self.auth)} --key-env {shlex.quote(self.key_env)}"
            return made
        return self.cmd

    def urls(self, port: int | None = None) -> URLs:
        """The three URLs; ``port`` is that of the managed server."""
        base = f"http://127.0.0.1:{port}" if self.managed else (self.url or "").rstrip("/")

        def full(given: str | None, default: str) -> str:
            if given is None:
                return default
            return f"{base}{given}" if given.startswith("/") else given.replace("{port}", str(port))

        add = full(self.add_url, f"{base}/add")
        origin = "{0.scheme}://{0.netloc}".format(urlsplit(add))
        health = f"{base}/health" if self.url else f"{origin}/health"
        return URLs(add, full(self.search_url, f"{base}/search"), full(self.health_url, health))

    def _given_urls(self) -> tuple[str | None, ...]:
        return self.add_url, self.search_url, self.health_url

    def _check_choice(self) -> None:
        named = {
            "--url": self.url,
            "--cmd": self.cmd,
            "--app": self.app,
            "--system": self.system,
        }
        given = [name for name, value in named.items() if value]
        if not self.managed and (self.add_url or self.search_url):
            given.append("--add-url/--search-url")
            if not (self.add_url and self.search_url):
                raise TargetError("--add-url and --search-url belong together")
        if not given:
            raise TargetError(
                "no endpoint was named: give --url, --add-url with --search-url, "
                "--cmd, --app or --system, or write one of them into aml.toml (`aml init`)"
            )
        if len(given) > 1:
            raise TargetError(
                f"more than one endpoint was named: {' and '.join(given)}; give one of them"
            )
        if self.cmd and "{port}" not in self.cmd:
            raise TargetError(
                "--cmd must contain {port}, where the server is told its port: the kit chooses a "
                f"free one, as in --cmd {_with_port(self.cmd)!r}"
            )
        if self.app and ":" not in self.app:
            raise TargetError(f"--app is written pkg.mod:name, not {self.app!r}")

    def _check_key(self) -> None:
        schemes = [scheme.value for scheme in Scheme]
        if self.auth not in schemes:
            raise TargetError(f"--auth is one of {', '.join(schemes)}, not {self.auth!r}")
        if Scheme(self.auth) is Scheme.NONE:
            if self.key or self.key_env:
                raise TargetError(
                    "a key was given without a scheme: add --auth bearer, token or x-api-key"
                )
            return
        if not self.key:
            raise TargetError(f"--auth {self.auth} needs a key: {self._why_no_key()}")
        holder = f"${self.key_env}" if self.key_env else "the key"
        if not self.key.isprintable() or self.key != self.key.strip():
            raise TargetError(
                f"{holder} holds spaces around the key or characters no header can carry; "
                "a file with Windows line ends leaves one at its end"
            )
        if len(self.key) > 2 and self.key[0] == self.key[-1] and self.key[0] in "'\"":
            raise TargetError(
                f"{holder} has quotes around the key: they belong to the shell; some readers of "
                ".env files keep them, so take them out"
            )
        word = self.key.partition(" ")[0]
        if word != self.key and word.lower() in ("bearer", "token"):
            raise TargetError(
                f"{holder} begins with {word!r}, which the kit writes itself: keep the key alone "
                "in it"
            )

    def _why_no_key(self) -> str:
        variable = self.key_env
        if not variable:
            return "name the variable that holds it with --key-env"
        if not re.fullmatch(r"[A-Za-z_]\w*", variable, re.ASCII):
            return "--key-env takes the name of an environment variable, not the key itself"
        if variable in os.environ:
            return f"${variable} is set, but empty; is the secret passed to where this runs?"
        if not re.fullmatch(r"[A-Z_][A-Z0-9_]*", variable):  # a key may look like this: not shown
            return (
                "the variable that --key-env names is not set; it takes a name, not the key itself"
            )
        return f"${variable} is not set; is it exported? (export {variable}=…)"

    @staticmethod
    def _check_data(data_dir: Path) -> None:
        there = next(path for path in (data_dir, *data_dir.absolute().parents) if path.exists())
        if not there.is_dir() or not os.access(there, os.W_OK | os.X_OK):
            raise TargetError(f"--data {data_dir}: {there} is no directory that can be written")

    @staticmethod
    def _check_trust() -> None:
        try:
            tls_context()
        except TrustError as error:
            raise TargetError(str(error)) from error

    def _check_url(self, url: str) -> None:
        if self.key and self.key in unquote(url):  # first of all: other messages show the URL
            raise TargetError("a URL holds the key; keys belong in a header (clause K3)")
        if url == self.url and ("?" in url):
            raise TargetError(
                f"{url!r} has a query, behind which no path can stand: give the whole URLs "
                "with --add-url, --search-url and --health-url"
            )
        if self.managed and url.startswith("/"):
            return
        try:
            parts = urlsplit(url.replace("{port}", "1") if self.managed else url)
            parts.port  # noqa: B018  raises if it is no number
        except ValueError as error:
            raise TargetError(f"{url!r} is no URL: {error}") from error
        if parts.scheme not in {"http", "https"} or not parts.hostname:
            better = _meant(url)
            hint = f": did you mean {better}?" if better else ""
            raise TargetError(f"{url!r} is no http:// or https:// URL{hint}")
        if parts.scheme == "https":
            self._check_trust()
        if parts.username is not None or parts.password is not None:
            raise TargetError(
                "a URL must not hold user:password@ (clause E5); a key goes into a header, by "
                "--auth and --key-env"
            )
        if parts.fragment:
            raise TargetError(f"{url!r} has a #fragment, which no request can carry")


def _meant(url: str) -> str | None:
    """The URL that was probably meant: ``127.0.0.1:8080``, ``http:/localhost/v1``."""
    slip = re.fullmatch(r"(https?)(?::/?|//)(?!/)(.+)", url)
    scheme, rest = slip.groups() if slip else ("http", url.lstrip("/"))
    meant = f"{scheme}://{rest}"
    parts = urlsplit(meant)
    try:
        fits = "://" not in url and bool(parts.hostname) and (parts.port or 0) >= 0
    except ValueError:
        return None
    return meant if fits else None


def _with_port(command: str) -> str:
    """The command with ``{port}`` where it probably has a port, or at its end."""
    placed, found = re.subn(r"(?<=[\s=:])\d{2,5}(?=\s|$)", "{port}", command, count=1)
    return placed if found else f"{command} --port {{port}}"
