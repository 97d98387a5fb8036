"""What a rule says: the exceptions it raises, and nothing else.

Anything else that leaves a rule is the kit's own error.

Finding
├── Violation       the endpoint broke the promise; the level decides what that means
├── NotApplicable   the promise does not concern this endpoint
└── NotTested       the promise could not be tried here
"""

from __future__ import annotations

from aml_contract.exchange import Exchange


class Finding(Exception):  # noqa: N818  a finding is not an error of the program
    """Ends a rule with a sentence for the builder and the exchanges that show it."""

    def __init__(self, message: str, *exchanges: Exchange) -> None:
        super().__init__(message)
        self.message = message
        self.exchanges = exchanges


class Violation(Finding):
    """The endpoint broke the rule. ``exchanges`` are the fewest that show it."""


class NotApplicable(Finding):
    """The rule does not concern this endpoint."""


class NotTested(Finding):
    """The rule could not be tried; the message says what was missing."""
