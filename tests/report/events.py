"""Events of runs that never took place, for tests of what is made from events."""

import itertools
from datetime import UTC, datetime, timedelta

from aml_contract.checking.result import RuleResult
from aml_contract.outcome import Level

HOSTILE = (
    '<script>document.title = "owned"</script><img src=x onerror="document.title=1">'
    " ]]> --> ``` | & \x00\x1b[31m \ud83d {{ 7 * 7 }} [x](javascript:1) @everyone"
)
URL = "http://127.0.0.1:8080"


def exchange(**more):
    return {
        "operation": "search",
        "method": "POST",
        "url": f"{URL}/search",
        "headers": {"authorization": "Bearer $AML_KEY", "content-type": "application/json"},
        "body": '{"query": "where?", "user_id": "u", "top_k": 5}',
        "body_bytes": 47,
        "status": 200,
        "error": None,
        "reply_headers": {"content-type": "text/html", "x-note": HOSTILE},
        "reply": f'{{"data": [{{"id": "1", "content": "{HOSTILE}"}}]}}',
        "reply_bytes": 200,
        "seconds": 0.0123,
        "curl": f"curl -sS -i {URL}/search -H 'x: `a`' --data-binary '{{\"query\": \"where?\"}}'",
        **more,
    }


def finished(rule, outcome, message, *, level=Level.MUST, exchanges=None):
    return RuleResult(
        rule=rule,
        level=level,
        clause="A12, S5",
        outcome=outcome,
        transport="http",
        message=message,
        seconds=0.5,
        requests=2,
        exchanges=[exchange(), exchange(status=None, error="connection reset")]
        if exchanges is None
        else exchanges,
        notes=["p50 3 ms"] if message else [],
    )


def run_of(results, *, ended=True, origins=None):
    """The events of a run that came to these results."""
    began = datetime(2026, 11, 30, 12, tzinfo=UTC)
    second = itertools.count()

    def event(kind, **fields):
        at = began + timedelta(seconds=next(second))
        return {"event": kind, "at": at.isoformat(), **fields}

    endpoint = {
        "kind": "url",
        "add_url": f"{URL}/add",
        "search_url": f"{URL}/search",
        "health_url": f"{URL}/health",
        "auth": "bearer",
        "flags": ["--url", URL, "--auth", "bearer", "--key-env", "MY_KEY"],
    }
    settings = {
        "concurrency": 16,
        "capabilities": ["auth", "verbatim"],
        "track": "textual",
        "strict": False,
        "quick": False,
        "budget": None,
        "origins": origins or {"url": "aml.toml:3"},
    }
    planned = [
        {"rule": r.rule, "level": r.level, "clause": r.clause, "transport": r.transport}
        for r in results
    ]
    events = [
        event(
            "run_started", kit="0.1.0", run="20261130T120000-abcdef", seed=7, salt="salt",
            endpoint=endpoint, settings=settings, rules=planned,
        ),
        event("endpoint_ready", endpoint=endpoint),
    ]  # fmt: skip
    for number, result in enumerate(results):
        events += [
            event("rule_started", rule=result.rule),
            event("rule_finished", result=result.model_dump(mode="json")),
            event(
                "measured",
                requests={"adds": number + 1, "searches": number, "others": 0},
                add=[[number + 0.1, 0.01 * (number + 1), 200]],
                search=[[number + 0.2, 0.002, 200], [number + 0.3, 5.0, 503]],
            ),
        ]
    if ended:
        events.append(
            event(
                "run_finished", stopped=None, reason=None, seconds=12.5, endpoint_seconds=3.0
            )
        )  # fmt: skip
    return events
