"""The table of settings: what can be set, its section in a file, its flag, its variable.

The options of ``aml``, those of pytest, the files, the environment and the tables of the
documentation are all made from it.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Literal

Section = Literal["endpoint", "capabilities", "hooks", "limits", "run", "report", "declaration"]
"""A section of a file. The fields of the last are given by whoever reads it: see ``files``."""


class Kind(Enum):
    """What a value is; the words are those of messages and of the documentation."""

    TEXT = "a text"
    PATH = "a path"
    WHOLE = "a whole number"
    NUMBER = "a number"
    SWITCH = "true or false"
    TEXTS = "a list of texts"
    TABLE = "a table of texts"


@dataclass(frozen=True)
class Setting:
    """One thing that can be set.

    ``minimum`` is the least number allowed. ``names_endpoint`` marks what says which
    endpoint is meant and what belongs to that one alone: a stronger source that names
    another endpoint replaces all of it.
    """

    name: str
    section: Section
    help: str
    kind: Kind = Kind.TEXT
    default: object = None
    metavar: str = ""
    choices: tuple[str, ...] = ()
    minimum: float | None = None
    names_endpoint: bool = False

    @property
    def flag(self) -> str:
        """The option of ``aml``; pytest's is ``--aml-`` and the same."""
        return f"--{self.name.replace('_', '-')}"

    @property
    def env(self) -> str:
        """The environment variable."""
        return f"AML_{self.name.upper()}"

    @property
    def repeatable(self) -> bool:
        """Whether the flag may be given several times."""
        return self.kind is Kind.TEXTS

    @property
    def is_switch(self) -> bool:
        """Whether the flag takes no value."""
        return self.kind is Kind.SWITCH

    @property
    def shown_metavar(self) -> str:
        """What stands for the value in help texts; its choices, if it has some."""
        return self.metavar or "|".join(self.choices)

    @property
    def help_line(self) -> str:
        """The help, and the default if there is one."""
        if self.default in (None, False, ()):
            return self.help
        return f"{self.help} Default: {self.shown(self.default)}."

    def shown(self, value: object) -> str:
        """A value as people write it."""
        if isinstance(value, bool):
            return str(value).lower()
        if isinstance(value, float):
            return f"{value:g}"
        if isinstance(value, (list, tuple)):
            return ", ".join(map(str, value))
        return str(value)


def _file(name: str, text: str) -> Setting:
    """A format of the report, and the file that it goes to."""
    return Setting(name, "report", text, kind=Kind.PATH, metavar="FILE")


SETTINGS: tuple[Setting, ...] = (
    Setting(
        "url",
        "endpoint",
        "A running endpoint: BASE/add, BASE/search and BASE/health.",
        metavar="BASE",
        names_endpoint=True,
    ),
    Setting(
        "add_url",
        "endpoint",
        "The Add URL, where it is no BASE/add. A path beside cmd, app and system.",
        metavar="URL",
        names_endpoint=True,
    ),
    Setting("search_url", "endpoint", "The Search URL.", metavar="URL", names_endpoint=True),
    Setting(
        "health_url",
        "endpoint",
        "The health URL; /health on the Add URL's origin if not given.",
        metavar="URL",
        names_endpoint=True,
    ),
    Setting(
        "cmd",
        "endpoint",
        "A shell command that starts a server; {port} and {data} are filled in. "
        "The kit starts, kills and restarts it.",
        metavar="COMMAND",
        names_endpoint=True,
    ),
    Setting(
        "app",
        "endpoint",
        "An ASGI application, served by uvicorn.",
        metavar="MODULE:APP",
        names_endpoint=True,
    ),
    Setting(
        "system",
        "endpoint",
        "A MemorySystem, or the name of an installed one, served by `aml serve`.",
        metavar="MODULE:CLASS",
        names_endpoint=True,
    ),
    Setting(
        "data",
        "endpoint",
        "Where a started server keeps its data; a temporary directory if not given.",
        kind=Kind.PATH,
        metavar="DIR",
        names_endpoint=True,
    ),
    Setting(
        "auth",
        "endpoint",
        "How the key travels.",
        default="none",
        choices=("bearer", "token", "x-api-key", "none"),
    ),
    Setting("key_env", "endpoint", "The environment variable that holds the key.", metavar="VAR"),
    Setting(
        "track",
        "capabilities",
        "What the endpoint is entered for.",
        default="textual",
        choices=("textual", "coding", "multimodal"),
    ),
    Setting(
        "without",
        "capabilities",
        "Decline a capability, visibly; repeatable.",
        kind=Kind.TEXTS,
        default=(),
        choices=("verbatim", "images"),
    ),
    Setting(
        "restart_cmd",
        "hooks",
        "Restarts a remote server, so that what needs a restart can be tried.",
        metavar="COMMAND",
        names_endpoint=True,
    ),
    Setting(
        "fault_cmd",
        "hooks",
        "Breaks what the server depends on; {port} and {data} as in cmd.",
        metavar="COMMAND",
        names_endpoint=True,
    ),
    Setting(
        "heal_cmd",
        "hooks",
        "Undoes fault_cmd; run on every way out, also where nothing is broken.",
        metavar="COMMAND",
        names_endpoint=True,
    ),
    Setting(
        "concurrency",
        "limits",
        "Requests in flight at most.",
        kind=Kind.WHOLE,
        default=16,
        metavar="N",
        minimum=1,
    ),
    Setting(
        "add_concurrency",
        "limits",
        "Adds in flight under load/*, as declared; concurrency if not given.",
        kind=Kind.WHOLE,
        metavar="N",
        minimum=1,
    ),
    Setting(
        "search_concurrency",
        "limits",
        "Searches in flight under load/*, beside the Adds; concurrency if not given.",
        kind=Kind.WHOLE,
        metavar="N",
        minimum=1,
    ),
    Setting(
        "timeout",
        "limits",
        "How long one answer may take.",
        kind=Kind.NUMBER,
        default=1800.0,
        metavar="SECONDS",
        minimum=0,
    ),
    Setting(
        "time",
        "limits",
        "Start no further rule after this time; end those under way 30 s later.",
        kind=Kind.NUMBER,
        metavar="SECONDS",
        minimum=0,
    ),
    Setting(
        "fuzz_budget",
        "limits",
        "How long requests are generated (fuzz/*), in all; 0 for not at all.",
        kind=Kind.NUMBER,
        default=20.0,
        metavar="SECONDS",
        minimum=0,
    ),
    Setting(
        "only",
        "run",
        "Try only these; repeatable.",
        kind=Kind.TEXTS,
        default=(),
        metavar="FAMILY_OR_RULE",
    ),
    Setting("quick", "run", "MUST rules with few requests.", kind=Kind.SWITCH, default=False),
    Setting(
        "seed",
        "run",
        "Choose the course of the run; random if not given.",
        kind=Kind.WHOLE,
        metavar="N",
    ),
    _file("html", "Write the report as one HTML page, which opens offline."),
    _file("json", "Write the report as JSON."),
    _file("junit", "Write the report as JUnit XML."),
    _file("markdown", "Write the report as Markdown, for a pull request or a job's summary."),
    _file("sarif", "Write the report as SARIF, for code scanning."),
    _file("ctrf", "Write the report as CTRF."),
    Setting(
        "show_replies",
        "report",
        "Keep answers whole. Otherwise only what the kit itself sent is shown of them.",
        kind=Kind.SWITCH,
        default=False,
    ),
    Setting("strict", "report", "Broken SHOULD rules fail too.", kind=Kind.SWITCH, default=False),
    Setting(
        "require_all",
        "report",
        "Exit with 6 if a MUST rule could not be tested.",
        kind=Kind.SWITCH,
        default=False,
    ),
)
"""Every setting, in the order in which help texts and documentation show them."""


CHOOSERS = ("url", "cmd", "app", "system")
"""Each of these alone says which endpoint is meant; ``add_url`` does with ``search_url``."""
REPORT_FILES = tuple(
    one.name for one in SETTINGS if one.section == "report" and one.kind is Kind.PATH
)
"""The formats of the report; the setting of each names its file."""


def settings_of(*names: str) -> tuple[Setting, ...]:
    """The settings of these sections, or of these names, in the order of the table."""
    return tuple(one for one in SETTINGS if one.section in names or one.name in names)
