"""structure/legal-requests: what every rule needs, an ordinary request that gets its 200."""

from __future__ import annotations

import contextlib
from collections import defaultdict

from aml_contract.exchange import Exchange
from aml_contract.finding import NotTested
from aml_contract.outcome import Level
from aml_contract.rule import Cost, rule
from aml_contract.run import Refusal
from aml_contract.techniques.steps import crashed
from aml_contract.trial import Trial

_BUSY = frozenset({408, 425, 429})


@rule(
    "structure/legal-requests",
    level=Level.MUST,
    clauses=("E1", "A1", "A4", "S1", "S10", "F3", "L1", "M1"),
    title="Every ordinary, legal request gets its 200, and an answer of a legal size.",
    why="A 4xx on a legal request is permanent: the platform never sends it again, and the "
    "chunk or the question is lost. A 5xx that does not pass ends the run.",
    fix="Send the request of the curl again and read your server's log: what it refuses or "
    "trips over is legal under every reading of the contract.",
    cost=Cost(adds=1, searches=1),
    modes=(3,),
    peers=("P16",),
    last=True,
)
async def legal_requests(trial: Trial) -> None:
    """Judges the refusals that ordinary requests of all rules met; one finding a cause."""
    if not trial.run.ordinary and not trial.run.refusals:
        user, marker = trial.ns.user(), trial.ns.marker()
        with contextlib.suppress(NotTested):
            await trial.add(user, marker.text)
        with contextlib.suppress(NotTested):
            await trial.search(user, marker.query)
    refusals = trial.run.refusals
    if not refusals:
        return
    gone = await _gone(trial)
    if blamed := [one for one in refusals if _is_violation(one, gone=gone is not None)]:
        causes = _by_cause(blamed)
        process = trial.endpoint.process
        shown = [those[0].exchange for those in causes.values()]
        lines = [_sentence(cause, those) for cause, those in causes.items()]
        lines += dict.fromkeys(advice for one in shown if (advice := _advice(trial, one)))
        if process is not None and process.died:
            lines.append(process.died)
        elif process is not None and process.complaints and any(map(crashed, shown)):
            lines.append(f"the last errors in the server's log:{process.complaints}")
        trial.fail("\n".join(lines), *shown)
    if gone:
        raise NotTested(f"the endpoint stopped answering: {gone}", refusals[0].exchange)
    raise NotTested(
        "the endpoint was too busy: ordinary requests were still put off "
        f"({refusals[0].exchange.summary}) after several tries; try a lower --concurrency",
        refusals[0].exchange,
    )


async def _gone(trial: Trial) -> str | None:
    """Why nothing answers any more, unless the server ended by itself: that is its fault."""
    process = trial.endpoint.process
    if process is not None and process.died:
        return None
    return await trial.endpoint.answers()


def _is_violation(refusal: Refusal, *, gone: bool) -> bool:
    status = refusal.exchange.status
    return status not in _BUSY and not (status is None and gone)


def _advice(trial: Trial, refused: Exchange) -> str:
    """What to look at first: a wrong URL or key is more often given than served."""
    kind, options = refused.operation.capitalize(), "--add-url and --search-url"
    auth = trial.endpoint.auth
    if refused.flood:
        return "return no more than top_k items, of no more than 30 MiB of images (S10, M1)"
    match refused.status:
        case None if "no answer within" in (refused.error or ""):
            limit, allowed = trial.endpoint.target.timeout, trial.run.fail_latency
            if limit < allowed:
                return f"an answer may take {allowed:g} s (F2); here --timeout is {limit:g} s"
        case 404 | 405 | 410:
            return f"is {refused.url} the right {kind} URL? {options} name others"
        case 401 | 403:
            given = f"is the key right, and is {auth.scheme} its scheme (--auth)?"
            missing = "does the endpoint want a key? --auth and --key-env give one"
            return given if auth.headers else missing
        case 301 | 302 | 303 | 307 | 308:
            where = refused.reply_headers.get("location", "elsewhere")
            return f"{kind} is redirected to {where}: name the final URL with {options}"
    return ""


def _by_cause(refusals: list[Refusal]) -> dict[tuple[str, str], list[Refusal]]:
    causes: dict[tuple[str, str], list[Refusal]] = defaultdict(list)
    for one in refusals:
        causes[one.exchange.operation, one.exchange.summary].append(one)
    return causes


def _sentence(cause: tuple[str, str], refusals: list[Refusal]) -> str:
    operation, summary = cause
    rules = sorted({one.rule for one in refusals})
    named = ", ".join(rules[:5]) + (f" and {len(rules) - 5} more" if len(rules) > 5 else "")
    times = f"{len(refusals)} ordinary {operation.capitalize()} requests were"
    if len(refusals) == 1:
        times = f"an ordinary {operation.capitalize()} was"
    how = f"answered {summary}" if summary[:1].isdigit() else f"not answered: {summary}"
    return f"{times} {how} (in {named})"
