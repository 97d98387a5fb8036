"""What the contract stage measures."""

from __future__ import annotations

from typing import Self

from pydantic import model_validator

from aml_contract.checking.document import Report
from aml_contract.documented import Documented
from aml_contract.outcome import Outcome


class ContractData(Documented):
    """What the contract stage measured."""

    outcomes: dict[str, Outcome]
    """What each rule came to, by its name."""
    add_concurrency: int
    """Adds in flight at most."""
    search_concurrency: int
    """Searches in flight at most, beside the Adds."""
    restartable: bool
    """Whether the kit could restart the server: its own, or by an operator's command."""
    report: Report
    """The check, as ``aml check --json`` writes it, an operator's commands left out."""

    @model_validator(mode="after")
    def _agree(self) -> Self:
        if self.outcomes != {result.rule: result.outcome for result in self.report.rules}:
            raise ValueError("the outcomes are not those of the report")
        return self

    @property
    def remote(self) -> bool:
        """Whether somebody else started the server."""
        return self.report.endpoint.kind == "url"
