"""What a preflight keeps."""

from __future__ import annotations

from datetime import datetime

from pydantic import Field

from aml_contract.certification.preflight.calls import Call
from aml_contract.certification.preflight.origins import Origin
from aml_contract.documented import Documented


class Preflight(Documented):
    """The data of the stage `preflight`."""

    at: datetime
    """When it began, by the clock of this machine."""
    allow_private: bool
    """Whether this is a rehearsal, where private addresses are allowed."""
    add_url: str
    search_url: str
    health_url: str
    scheme: str
    """How the key travels."""
    wait: float
    """Seconds that an answer was waited for."""
    declared: float
    """Seconds within which every answer comes, as it is declared or set."""
    proxies: list[str] = Field(default_factory=list)
    """Variables that name proxies, which are passed by."""
    origins: list[Origin] = Field(default_factory=list)
    """The hosts of the three URLs."""
    calls: list[Call] = Field(default_factory=list)
    """What was asked, in order; nothing where an address or a certificate forbids it."""
