"""An entry: one server of a collection, how it is started, and what must be found on it.

A collection is a function that returns entries, named ``module:function``. A healthy entry
may list findings that are true; a broken one names the rules that must find it out.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from aml_contract.checking.check import capabilities_of
from aml_contract.endpoint.target import Target
from aml_contract.rule import Capability
from aml_contract.run import Run

KEY = "k-7b1e94c2"
"""The key of a server that wants one; it finds it in the variable :data:`KEY_VARIABLE`."""
KEY_VARIABLE = "AML_KEY"
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]*")


@dataclass(frozen=True)
class Entry:
    """One server.

    Raises:
        ValueError: the entry contradicts itself; the message says how.
    """

    name: str
    """Letters, digits, ``_``, ``-`` and ``.``; unique in its collection."""
    cmd: str
    """A shell command that starts it; ``{port}`` and ``{data}`` are filled in."""
    healthy: bool
    """Whether it keeps the contract, but for what ``expected`` lists."""
    killable: bool = True
    """Whether the check may kill and restart it; otherwise it is judged by its URL."""
    track: str = "textual"
    without: tuple[str, ...] = ()
    """Capabilities that it declines."""
    add_path: str = "/add"
    search_path: str = "/search"
    auth: str = "none"
    """The scheme of its key, which it finds in ``$AML_KEY``."""
    fault_cmd: str | None = None
    heal_cmd: str | None = None
    thresholds: Mapping[str, float] = field(default_factory=dict)
    """Settings of :class:`~aml_contract.run.Run` by name, in seconds; ``patience`` scales."""
    expected: Mapping[str, str] = field(default_factory=dict)
    """The findings of a healthy server that are true: the rule, and why it is right."""
    sometimes: frozenset[str] = frozenset()
    """Those of ``expected`` that need not be seen: they come with chance or load."""
    kills: Mapping[str, str] = field(default_factory=dict)
    """The rules that must find out a broken server, and words of what they say."""
    risks: frozenset[str] = frozenset()
    """Those of ``kills`` that only warn, though their rule is a MUST."""
    version: str = ""
    """Changes when the server's code does: what was found on the old one is then stale."""

    def __post_init__(self) -> None:
        if not _NAME.fullmatch(self.name):
            raise ValueError(f"{self.name!r} is no name for a server")
        if self.healthy and (self.kills or self.risks):
            raise ValueError(f"{self.name} is healthy: no rule can be meant to fail it")
        if not self.healthy and (self.expected or self.sometimes):
            raise ValueError(f"{self.name} is broken: it has kills, not expected findings")
        if stray := (self.sometimes - set(self.expected)) | (self.risks - set(self.kills)):
            raise ValueError(f"{self.name}: {', '.join(sorted(stray))} is in one list only")

    def target(self, url: str | None = None) -> Target:
        """What is checked: its command, or the URL where it runs already, without faults.

        Raises:
            TargetError: the options make no sense together.
        """
        base = url or ""
        given: dict[str, Any] = {
            "add_url": base + self.add_path,
            "search_url": base + self.search_path,
        }
        if url is None:
            given |= {"cmd": self.cmd, "fault_cmd": self.fault_cmd, "heal_cmd": self.heal_cmd}
        if self.auth != "none":
            given |= {"auth": self.auth, "key": KEY, "key_env": KEY_VARIABLE}
        return Target(**given)

    def run(self, seed: int, salt: str, fuzz_budget: float) -> Run:
        """The settings of one check of it; its own thresholds come first.

        Raises:
            TypeError: a threshold is no setting of a run.
        """
        declined = [Capability(name) for name in self.without]
        settings: dict[str, Any] = {"fuzz_budget": fuzz_budget, **self.thresholds}
        return Run(
            seed=seed,
            salt=salt,
            capabilities=capabilities_of(self.target(), self.track, declined),
            track=self.track,
            **settings,
        )
