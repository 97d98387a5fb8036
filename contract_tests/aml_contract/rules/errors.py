"""``errors/*``: what can never succeed is refused, not retried (clauses F3, F4).

No exact status is asked for: readers of the contract use 400 and 422. A refusal closes
its connection in the kit, so that one finding does not become two.
"""

from __future__ import annotations

import re
from typing import Any

from aml_contract.body import dump
from aml_contract.exchange import Operation
from aml_contract.outcome import Level
from aml_contract.rule import Cost, rule
from aml_contract.techniques.steps import (
    attempt,
    crashed,
    planted,
    refused,
    see_working,
    valid_pair,
)
from aml_contract.trial import Trial

TRACE = re.compile(
    r'Traceback \(most recent call last\)|File "[^"]+", line \d+|\bat [\w.$]+\([\w.]+:\d+\)'
    r"|goroutine \d+ \[|panicked at "
)
"""What Python, Java, Node, Go and Rust print when they fall over."""
PAGE = re.compile(rb"\s*<(!doctype\s+html|html)\b", re.IGNORECASE)


@rule(
    "errors/malformed-json",
    level=Level.MUST,
    clauses=("F3",),
    title="A body that is no JSON object is refused with a 4xx.",
    why="A 5xx is sent again up to 32 times; a 200 acknowledges what was never read.",
    fix="Catch the parser's error, and check that the body is an object, before anything else.",
    cost=Cost(adds=6, searches=6),
    modes=(91,),
    peers=("P111", "P112", "P120"),
)
async def malformed_json(trial: Trial) -> None:
    """Truncated, empty, an array, not UTF-8, two values: to Add and to Search.

    Two values and bytes that are no UTF-8 are read leniently by whole languages (the
    first value; U+FFFD), so that accepting them is a warning.
    """
    for operation, body in valid_pair(trial):
        whole = dump(body)
        for name, wrong, lenient in (
            ("truncated JSON", whole[: len(whole) // 2], False),
            ("an empty body", b"", False),
            ("an array instead of an object", b"[" + whole + b"]", False),
            ("bytes that are no UTF-8", whole.replace(b"eval:", b"eval\xff\xfe:", 1), True),
            ("a second JSON value after the first", whole + b" {}", True),
        ):
            made = await attempt(trial, operation, wrong)
            where = f"{name} sent to {operation.capitalize()}"
            if crashed(made) or not (refused(made) or lenient):
                await see_working(trial, operation)
            trial.require(
                not crashed(made),
                f"{where} was answered {made.summary}, which the platform sends again",
                made,
            )
            if refused(made):
                continue
            if lenient:
                trial.warn(f"{where} was answered {made.summary}, as if it were valid", made)
            else:
                trial.fail(f"{where} was answered {made.summary} instead of a 4xx", made)


@rule(
    "errors/never-succeeds",
    level=Level.SHOULD,
    clauses=("F3", "A7"),
    title="Numbers and nesting that nothing can hold are refused, not retried.",
    why="They can never succeed; a 5xx makes the platform try 32 times.",
    fix="Catch overflow and recursion errors of the parser and of date arithmetic.",
    cost=Cost(adds=7, searches=4),
    peers=("P106", "P133"),
)
async def never_succeeds(trial: Trial) -> None:
    """NaN, infinity, a timestamp beyond every calendar, deep nesting."""
    (_, add), (_, search) = valid_pair(trial)
    message = add["messages"][0]
    broke = []
    tries: list[tuple[Operation, str, bytes]] = [
        (
            "add",
            f"timestamp {number}",
            raw(add | {"messages": [message | {"timestamp": 9}]}, number),
        )
        for number in ("NaN", "1e400", "1e30", "-1")
    ]
    deep = b"[" * 5_000 + b"]" * 5_000
    tries += [
        ("add", "5,000 nested lists", dump(add)[:-1] + b', "deep": ' + deep + b"}"),
        ("search", "top_k NaN", raw(search | {"top_k": 9}, "NaN")),
        ("search", "top_k 1e400", raw(search | {"top_k": 9}, "1e400")),
        ("search", "top_k of 30 digits", raw(search | {"top_k": 9}, "1" + "0" * 29)),
    ]
    for operation, name, body in tries:
        made = await attempt(trial, operation, body, attempts=2)
        if crashed(made):
            broke.append((name, made))
    if broke:
        for operation in {made.operation for _, made in broke}:
            await see_working(trial, operation)
        names = "; ".join(f"{name} ({made.summary})" for name, made in broke)
        trial.fail(f"a server error instead of a 4xx: {names}", broke[0][1])


@rule(
    "errors/no-leak",
    level=Level.MAY,
    clauses=("F4",),
    title="An error tells no payload and no traceback, and health neither.",
    why="Error bodies end in logs, and health is open to everyone; the evaluation data does not "
    "belong in either.",
    fix="Answer a fixed reason per kind of error; drop the framework's echo of the input.",
    cost=Cost(adds=4, searches=1, others=1),
    modes=(94,),
    peers=("P15", "P119"),
)
async def no_leak(trial: Trial) -> None:
    """A stored sentence, then invalid requests around it, which no answer may repeat."""
    secret = trial.ns.marker()
    body = trial.add_body(trial.ns.user(), secret.text)
    numbered = body | {"user_id": [secret.text]}
    roleless = body | {"messages": [{"content": secret.text}]}
    question = {"query": secret.text, "user_id": trial.ns.user(), "top_k": "many"}
    await trial.add(trial.ns.user(), secret.text)
    open_to_all = (await trial.health()).reply.decode(errors="replace")
    trial.require(
        not secret.leaks_into(open_to_all) and TRACE.search(open_to_all) is None,
        "health, which is open to everyone, shows what was stored or a traceback",
        trial.last_exchange_of("health"),
    )
    tries: tuple[tuple[Operation, Any], ...] = (
        ("add", numbered),
        ("add", roleless),
        ("add", dump(body)[:-2]),
        ("search", question),
    )
    for operation, wrong in tries:
        made = await trial.send(operation, wrong)
        if made.status is None or made.status < 400:
            continue
        text = made.reply.decode(errors="replace")
        trial.require(
            not secret.leaks_into(text), f"the error {made.status} repeats the payload", made
        )
        trial.require(
            TRACE.search(text) is None, f"the error {made.status} shows a traceback", made
        )


@rule(
    "errors/html-page",
    level=Level.MAY,
    clauses=("F4",),
    title="A refusal is told in JSON, not in a page of HTML.",
    why="A page tells that a framework or a proxy answers and not your service: what it says "
    "of bodies, sizes and keys is not what you have set.",
    fix='Answer {"detail": {"reason": "…"}}, and let the proxy pass errors on.',
    cost=Cost(adds=2, searches=1),
    modes=(31,),
    peers=("P117",),
)
async def html_page(trial: Trial) -> None:
    """Truncated, empty and invalid bodies; nobody reads the body of an error, so this warns."""
    (_, add), (_, search) = valid_pair(trial)
    tries: tuple[tuple[Operation, Any], ...] = (
        ("add", dump(add)[:-2]),
        ("add", b""),
        ("search", search | {"user_id": 7}),
    )
    for operation, wrong in tries:
        made = await trial.send(operation, wrong)
        if made.status is None or made.status < 400:
            continue
        kind = made.reply_headers.get("content-type", "").partition(";")[0].strip().casefold()
        page = PAGE.match(made.reply) is not None
        trial.require(
            kind not in ("text/html", "application/xhtml+xml") and not page,
            f"the error {made.status} of {operation.capitalize()} is a page of HTML",
            made,
        )


@rule(
    "errors/still-alive",
    level=Level.MUST,
    clauses=("F3",),
    title="Bad requests do not stop the service for good ones.",
    why="One malformed request that kills a worker or holds a lock ends everyone's run.",
    fix="Release locks and roll transactions back on every way out of a request.",
    cost=Cost(adds=8, searches=6),
    quick=False,
)
async def still_alive(trial: Trial) -> None:
    """The same user goes on after a volley of bad requests."""
    user = trial.ns.user()
    await planted(trial, user)
    for operation, body in valid_pair(trial):
        target = body | {"user_id": user}
        whole = dump(target)
        for wrong in (
            whole[: len(whole) // 2],
            b"",
            dump(target | {"messages": [{"role": "user", "content": 7}], "top_k": "x"}),
            dump(target | {"messages": [{"content": "\ud800"}], "query": "\ud800"}),
        ):
            await trial.send(operation, wrong)
    marker = trial.ns.marker()
    made = await trial.insist("add", trial.add_body(user, marker.text))
    trial.require(
        made.status == 200,
        f"after bad requests, an ordinary Add of the same user was answered {made.summary}",
        made,
    )
    asked = await trial.insist("search", trial.search_body(user, marker.query))
    trial.require(
        asked.status == 200,
        f"after bad requests, an ordinary Search of the same user was answered {asked.summary}",
        asked,
    )
    trial.require(
        bool(trial.showing(trial.items(asked), marker)),
        "after bad requests, the user's next message is acknowledged and not found",
        made,
        asked,
    )


@rule(
    "errors/wrong-method",
    level=Level.MAY,
    clauses=("F3", "E1"),
    title="Another method or path is refused, not a server error.",
    why="Probes and typing errors should not look like an outage.",
    fix="Let the router answer 404 and 405.",
    cost=Cost(adds=7, searches=1),
    peers=("P132",),
)
async def wrong_method(trial: Trial) -> None:
    """GET, PUT, DELETE, OPTIONS on Add, GET on Search, POST beside Add; 501 is an honest no.

    What a slash too many or too few comes to is noted: it is a slip of registrations.
    """
    add, search = trial.endpoint.add_url, trial.endpoint.search_url
    path = add.partition("?")[0]
    slashed = path.rstrip("/") if path.endswith("/") else path + "/"
    tries: tuple[tuple[Operation, str, str], ...] = (
        ("add", "GET", add),
        ("add", "PUT", add),
        ("add", "DELETE", add),
        ("add", "OPTIONS", add),
        ("search", "GET", search),
        ("add", "POST", path.rstrip("/") + "-" + trial.ns.word()),
        ("add", "POST", slashed),
    )
    for operation, method, url in tries:
        body = trial.add_body(trial.ns.user(), "x") if method in ("PUT", "POST") else None
        made = await attempt(trial, operation, body, method=method, url=url, attempts=2)
        trial.require(
            not crashed(made) or made.status == 501,
            f"{method} on {'another path' if method == 'POST' else operation.capitalize()} "
            f"was answered {made.summary}",
            made,
        )
        if url == slashed:
            trial.note(f"POST to {url}: {made.summary}")


def raw(body: dict[str, Any], number: str) -> bytes:
    """The body with its one bare ``9`` spelled as ``number``, which JSON may not know."""
    return dump(body).replace(b": 9", b": " + number.encode(), 1)
