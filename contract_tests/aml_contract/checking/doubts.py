"""Doubts: findings that may speak of something other than their rule (clauses F1, F3, K2).

A rule compares what it sent with what is ordinary. A rate limit, or a key that expires in
the middle of a run, can change what is ordinary meanwhile.
"""

from __future__ import annotations

from collections.abc import Sequence

from aml_contract.exchange import Exchange
from aml_contract.finding import NotTested
from aml_contract.outcome import Outcome
from aml_contract.run import Refusal
from aml_contract.trial import Trial

FOUND = frozenset({Outcome.FAILED, Outcome.WARNED})
"""The outcomes that say something against an endpoint."""
_LATER = frozenset({408, 425, 429})
_DENIED = frozenset({401, 403})


async def doubt_of(trial: Trial, shown: Sequence[Exchange]) -> str | None:
    """Why a finding is none after all; ``None`` if nothing speaks against it.

    Args:
        trial: the rule that found it.
        shown: the exchanges of the finding.
    """
    return _put_off(trial, shown) or await _locked_out(trial, shown)


def _put_off(trial: Trial, shown: Sequence[Exchange]) -> str | None:
    """What goes over a raw connection is not sent again where the answer asks for patience."""
    if trial.rule.transport != "raw":
        return None
    for made in shown:
        if made.status in _LATER:
            return f"the endpoint was too busy to say ({made.summary}); try a lower --concurrency"
    return None


async def _locked_out(trial: Trial, shown: Sequence[Exchange]) -> str | None:
    """Whether the key is taken no longer; rules about keys and ``last`` ones know themselves."""
    denied = any(made.status in _DENIED and made.operation != "health" for made in shown)
    if not denied or trial.rule.last or trial.rule.family == "auth":
        return None
    body = trial.search_body(trial.ns.user(), trial.ns.marker().query)
    try:
        made = await trial.insist("search", body)
    except NotTested:  # nothing more is asked of it
        return None
    if made.status not in _DENIED:
        return None
    trial.run.refusals.append(Refusal(trial.rule.name, made))
    return (
        f"an ordinary Search is answered {made.summary} too: the key is refused, or has expired "
        "(see structure/legal-requests)"
    )
