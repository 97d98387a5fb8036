"""Diagnosis: what the platform calls the end of a Smoke run, and what it really was.

The platform has one label for whatever keeps a run from its end, also where no request ever
arrived: ``ADD_API_CONTRACT_MISMATCH``. What is found here is ours.
"""

from __future__ import annotations

from dataclasses import dataclass

from aml_contract.exchange import Exchange, NotStrictJSONError
from aml_contract.smoke.answers import ContractBrokenError
from aml_contract.smoke.evaluation import Evaluation
from aml_contract.smoke.report import Summary

LABEL = "ADD_API_CONTRACT_MISMATCH"
_PROXY_PATIENCE = 90.0
"""Seconds after which proxies in front of real entries cut (clause F2)."""
_LOST = 0.2
"""The evidence recall among 100 items below which an answer model has little to read."""


@dataclass(frozen=True)
class Diagnosis:
    """How a Smoke run ended."""

    label: str | None
    """What the platform would call it; ``None`` if the run comes to its end there."""
    cause: str
    """What it really was, and what to do, in one sentence."""


def of_unreachable(message: str) -> Diagnosis:
    """Nothing answered at all."""
    first, *rest = (line.strip() for line in message.splitlines())
    do = next((line.removeprefix("do").strip() for line in rest if line.startswith("do ")), "")
    words = f"no request arrived ({first.rstrip('.')})"
    return Diagnosis(LABEL, f"{words}; {do}." if do else f"{words}.")


def of_broken(error: ContractBrokenError) -> Diagnosis:
    """An answer ended the stage."""
    return Diagnosis(LABEL, _cause(error))


def of_completed(summary: Summary, evaluation: Evaluation) -> Diagnosis:
    """The run came to its end; what its score will suffer from, if from something."""
    return Diagnosis(None, _weakness(summary, evaluation))


def _cause(error: ContractBrokenError) -> str:
    made = error.exchange
    name = "an Add" if made.operation == "add" else "a Search"
    if made.status is None:
        return _silence(made, name, str(error))
    if made.status != 200:
        return _by_status(made, name)
    try:
        made.json  # noqa: B018  raises if it is none
    except NotStrictJSONError as trouble:
        do = "register the URL of the memory itself, and answer with one JSON object"
        return f"{name} was answered 200, but no strict JSON ({trouble}); {do}."
    return f"{error}; answer as clause {error.clause} says, types included."


def _silence(made: Exchange, name: str, message: str) -> str:
    words = made.error or ""
    if "the server" in message:  # it ended by itself, as its log says
        first = message.partition("\n")[0]
        return f"{first} during {name}; its log says why, and a restart in a run must lose nothing."
    if "no answer within" in words:
        return f"{name} got {words}; answer sooner, and before 100 s, where proxies cut."
    if made.seconds > _PROXY_PATIENCE:
        return (
            f"the connection of {name} ended after {made.seconds:.0f} s ({words}), as where a "
            "proxy or tunnel cuts long requests; answer sooner, or take the proxy's limit away."
        )
    return (
        f"{name} got no answer ({words}) however often it was sent; look whether the server was "
        "restarted, deployed or out of memory, and never deploy during a run."
    )


def _by_status(made: Exchange, name: str) -> str:
    status = made.status or 0
    cause, do = _STATUSES.get(status) or _CLASSES[status // 100]
    if made.retryable and status != 429:
        cause = f"{cause}, at every try"
    return f"{name} was answered {status}: {cause}; {do}."


_CLASSES: dict[int, tuple[str, str]] = {
    1: ("that is no answer", "answer 200"),
    2: ("only 200 is a success", "answer 200 once everything is durable and searchable"),
    3: (
        "that is a redirect, and redirects are not followed",
        "register the URL that answers itself, with its scheme and trailing slash",
    ),
    4: ("it refuses what is legal, for good", "accept it, and see what `aml check` finds"),
    5: ("the server failed", "look at its log for the error"),
}
_CUT = "a proxy or tunnel in front waited too long for the server"
_STATUSES: dict[int, tuple[str, str]] = {
    400: (
        "it refuses a legal body, for good",
        "accept what the contract allows; `aml check` shows the smallest body that is refused",
    ),
    401: ("the key is missing or another", "register the key that the server expects"),
    403: ("the key is refused", "register the key that the server expects, under its scheme"),
    404: ("no such path there", "register the URL with the path that the server serves"),
    405: ("the path takes no POST", "register the URL of the endpoint, and serve POST there"),
    408: (_CUT, "answer sooner, or raise the proxy's limit"),
    409: ("it says that the same is still under way", "wait for the first one, and answer as it"),
    413: ("the body is too large for it", "raise the body limit of the server and of its proxy"),
    415: ("it does not take application/json", "read JSON, whatever charset the header names"),
    422: (
        "it refuses a legal body, for good",
        "accept what the contract allows; `aml check` shows the smallest body that is refused",
    ),
    429: (
        "it is over its limit of requests, and stayed so",
        "raise the limit to the declared concurrency, or send Retry-After up to 60 s",
    ),
    502: ("a proxy in front has no server behind it", "see that the server runs and listens"),
    503: ("it says that it is busy or down", "give it what it lacks: workers, memory, a provider"),
    504: (_CUT, "answer sooner, or raise the proxy's limit"),
    524: (_CUT, "answer within 100 s, or take that proxy out of the way"),
}


def _weakness(summary: Summary, evaluation: Evaluation) -> str:
    recall = summary.overall.among[100] or 0.0
    if not summary.tokens.largest:
        return (
            "Every Search came back empty, so there was nothing to answer from; see that an Add "
            "is searchable when it is acknowledged, and that no threshold empties the list."
        )
    if summary.tokens.wasted > summary.questions / 2:
        return (
            "The first item alone fills what the answer model reads in most answers; return "
            "single memories instead of whole histories."
        )
    if recall < _LOST and not evaluation.above_chance:
        return (
            "The answers are no better than guessing, and hardly any evidence came back in its "
            "own words; see what a Search returns for these questions."
        )
    if not evaluation.above_chance:
        return (
            f"Evidence came back (recall {recall:.2f}), but the answers are no better than "
            f"guessing; look how readable the items are, and whether {evaluation.by} is the "
            "reader that is meant."
        )
    if evaluation.cut:
        return (
            f"The flow works; of {evaluation.cut} answers the end was never read, so return less "
            "or rank better."
        )
    return "The flow works from end to end; nothing stands in its way."
