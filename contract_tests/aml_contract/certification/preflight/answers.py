"""What is to be said of the answers: paths, redirections, keys, health."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from urllib.parse import urlsplit

from aml_contract.certification.grounds import Ground, open_question, remark, wrong
from aml_contract.certification.preflight.calls import Call
from aml_contract.certification.preflight.document import Preflight
from aml_contract.endpoint.auth import Scheme

_DENIED = frozenset({401, 403})
SCHEMES = frozenset(scheme.value for scheme in Scheme) - {Scheme.NONE.value}
_ELSEWHERE = frozenset({404, 405, 410, 501})


def grounds(seen: Preflight) -> Iterator[Ground]:
    """One ground at most for each thing that is wrong, though many answers show it."""
    posts = [call for call in seen.calls if call.method == "POST"]
    others = {call.key: call for call in posts if call.key in SCHEMES}
    for operation in ("add", "search"):
        ordinary = [call for call in posts if (call.operation, call.key) == (operation, "right")]
        refused = [call for call in ordinary if call.status != 200 or not call.fits]
        for call in (refused or ordinary)[:1]:
            yield from _right(call, seen, others)
    for call in seen.calls:
        if call.key in ("none", "wrong") and call.method == "POST":
            yield from _denied(call)
        elif call.key in SCHEMES:
            yield from _other(call)
        elif call.method == "HEAD":
            yield from _head(call)
        elif call.operation == "health":
            yield from _health(call, registered=call.url == seen.health_url)


def _right(call: Call, seen: Preflight, others: Mapping[str, Call]) -> Iterator[Ground]:
    """An ordinary request with the right key, or without one where none is wanted."""
    answered = f"{call.named} {call.outcome}"
    if call.status == 200:
        if not call.fits:
            clause = "A11" if call.operation == "add" else "S5"
            fix = "see whether the URL is that of a memory, and not of a page or a proxy"
            yield wrong(f"{answered}, but not as the contract says.", fix, clause)
    elif call.status is not None and 300 <= call.status < 400:
        to = f" to {call.location}" if call.location else ""
        yield wrong(
            f"{call.url} redirects{to}, which the platform does not follow.",
            "register the URL that answers itself",
            "E6",
        )
    elif call.status in _DENIED:
        yield _refused(answered, seen.scheme, others)
    elif call.status in _ELSEWHERE:
        yield wrong(f"{answered} at {call.url}.", "register the URL at which it answers POST", "E1")
    elif call.unanswered and seen.wait < seen.declared:
        fix = "keep it awake; the stage capacity waits as long as is declared"
        yield open_question(f"{answered}.", fix, "F2")
    else:
        fix = "look at the server's log; aml check --only structure shows the request"
        yield wrong(f"{answered}, not 200.", fix, "A11" if call.operation == "add" else "S5")


def _refused(answered: str, scheme: str, others: Mapping[str, Call]) -> Ground:
    taken = [name for name, call in others.items() if call.status == 200]
    if scheme == Scheme.NONE:
        fix = "write auth and key_env into [endpoint]"
        return wrong(f"{answered}, and no key is registered.", fix, "K1")
    if taken:
        return wrong(
            f"{answered} with the registered key as {scheme}; as {taken[0]} it is accepted.",
            f'write auth = "{taken[0]}" into [endpoint], and register that',
            "K1",
        )
    fix = "see that the variable of key_env holds the key that the server was started with"
    return wrong(f"{answered} with the registered key as {scheme}.", fix, "K1")


def _denied(call: Call) -> Iterator[Ground]:
    if call.status in _DENIED:
        return
    if call.status is not None and call.status < 300:
        yield wrong(
            f"{call.named} {call.outcome}: whoever finds the URL can do it.",
            "answer 401 unless the whole key is right, and refuse to start without one",
            "K2",
        )
    elif call.status is not None and call.status < 400:
        return  # of a redirection, the ordinary request speaks
    else:
        sentence = f"{call.named} {call.outcome}; 401 or 403 says what is wrong."
        yield remark(sentence, "check the key before anything else", "K2")


def _other(call: Call) -> Iterator[Ground]:
    if call.status is None or call.status >= 500:
        sentence = f"{call.named} {call.outcome}."
        yield remark(sentence, "accept all three headers, or answer 401", "K2")


def _head(call: Call) -> Iterator[Ground]:
    if call.status in _DENIED:
        return  # of the key, the ordinary requests speak
    if call.status is None or call.status >= 400:
        what = "Add" if call.operation == "add" else "Search"
        sentence = f"HEAD on the {what} URL {call.outcome}."
        yield remark(sentence, "answer 200: it was seen as a probe before runs", "E4")


def _health(call: Call, *, registered: bool) -> Iterator[Ground]:
    if call.status is not None and 200 <= call.status < 300:
        return
    if registered:
        yield wrong(
            f"Health at {call.url} {call.outcome}, not 2xx.",
            "answer 200 there, without a key and without a redirection",
            "E3",
        )
    else:
        path = urlsplit(call.url).path
        yield remark(
            f"{path} on the origin of the Add URL {call.outcome}: the platform asks "
            "there if no health URL is registered.",
            "register the health URL, or answer there too",
            "E3",
        )
