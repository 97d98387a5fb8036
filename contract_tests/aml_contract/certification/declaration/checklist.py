"""The checklist: failure modes that no request shows, as questions to the builder.

The rows are those of the failure modes marked "review". Answers are shown to organisers and
never judged; a row without one is missing.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass


@dataclass(frozen=True)
class Row:
    """One failure mode: the question, and an answer as one might give it."""

    number: str
    """The row of the failure modes."""
    question: str
    example: str
    seen_with_a_fault: bool = False
    """Whether a check sees it after all, where ``fault_cmd`` is given."""


CHECKLIST = (
    Row(
        "67",
        "What does Search answer while the store is down?",
        "503; the health check fails too",
        seen_with_a_fault=True,
    ),
    Row(
        "100",
        "What keeps deploys, restarts and sleep away from it during a run?",
        "deploys are locked; the instance never scales to zero",
    ),
    Row(
        "101",
        "How do you know that it runs with the settings declared here?",
        "the container was made anew after the last change of .env; /health shows the version",
    ),
    Row(
        "102",
        "What of queries and messages ends in logs?",
        "ids and lengths alone",
    ),
    Row(
        "103",
        "How is evaluation data deleted, and by when?",
        "a job deletes the users of a run 14 days after it",
    ),
)


def asked(*, with_fault: bool) -> Iterator[Row]:
    """The rows to answer.

    Args:
        with_fault: whether the endpoint's settings say how to break its store.
    """
    for row in CHECKLIST:
        if not (with_fault and row.seen_with_a_fault):
            yield row
