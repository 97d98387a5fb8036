"""Requests generated from the contract's document by schemathesis, and what comes back."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, cast

import requests
import schemathesis
from hypothesis import HealthCheck, Phase, Verbosity, given, seed, settings
from hypothesis import strategies as st
from hypothesis.errors import HypothesisException
from schemathesis import Case, CheckContext, Config, GenerationMode, Response
from schemathesis.checks import not_a_server_error
from schemathesis.core.failures import Failure, FailureGroup
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
)

from aml_contract.exchange import Exchange, Operation
from aml_contract.fuzz.bridge import Bridge, Spent
from aml_contract.fuzz.document import document
from aml_contract.fuzz.sample import ODDITIES, Canary, Oddity, Sample, canonical
from aml_contract.namespace import Namespace
from aml_contract.rule import Capability
from aml_contract.techniques.twins import leak

EXAMPLES = 30
"""Requests of one kind and round, before shrinking."""
ROUNDS = 10
"""How often Adds and Searches have their turn, each time with another seed."""
TRIES = 3
"""Faults of one kind that did not repeat until that kind is looked for no more."""
_OPERATIONS: tuple[Operation, ...] = ("add", "search")
_Send = Callable[[Operation, list[Any]], list[Exchange]]
_CANARIES: ContextVar[tuple[Canary, ...]] = ContextVar("canaries", default=())


@schemathesis.check
def aml_foreign_canary(_ctx: CheckContext, response: Response, case: Case[Any]) -> None:
    """No Search of another user shows what a canary stored.

    Raises:
        AssertionError: it does.
    """
    if case.operation.path != "/search" or not isinstance(case.body, dict):
        return
    user = case.body.get("user_id")
    text = response.content.decode(errors="replace")
    for canary in _CANARIES.get():
        if user != canary.user and canary.marker.leaks_into(text):
            raise AssertionError(leak(str(user), canary.user))


_CANARY = aml_foreign_canary.__name__
CHECKS = (
    not_a_server_error,
    content_type_conformance,
    response_schema_conformance,
    aml_foreign_canary,
)


@dataclass(frozen=True)
class Fault:
    """What is wrong with an answer."""

    check: str
    message: str


@dataclass(frozen=True)
class Suspect:
    """A request whose answer had a fault."""

    sample: Sample
    fault: Fault
    reason: str = ""
    """Why the request is invalid; empty for a legal one."""
    place: str = ""
    """Which part of it is."""

    def like(self, other: Suspect | None) -> bool:
        """Whether both are likely to have one cause."""
        return (
            other is not None
            and self.sample.operation == other.sample.operation
            and self.fault.check == other.fault.check
            and self.place == other.place
        )


@dataclass(frozen=True)
class Found:
    """A suspect whose answer was wrong again, and what in it matters."""

    suspect: Suspect
    message: str
    oddity: Oddity | None
    exchanges: tuple[Exchange, ...]


class _Faulty(Exception):  # noqa: N818  a finding is not an error of the program
    pass


class Generator:
    """Generates requests, judges the answers, and sends again what was wrong.

    Args:
        bridge: sends, within a budget.
        legal: whether requests are legal under every reading, or invalid.
        canaries: users whose memories nobody else may see.
    """

    def __init__(self, bridge: Bridge, *, legal: bool, canaries: tuple[Canary, ...]) -> None:
        self.bridge = bridge
        self.canaries = canaries
        self.found: list[Found] = []
        self.unrepeated: list[Suspect] = []
        self.sent = 0
        self.refused = 0
        self.accepted: dict[tuple[str, str], tuple[Suspect, Exchange]] = {}
        """Invalid requests that were answered 200, by operation and place."""
        self._legal = legal
        images = Capability.IMAGES in bridge.trial.run.capabilities
        images = images and bridge.trial.run.track == "multimodal"
        self._schema = schemathesis.openapi.from_dict(
            document(usual=legal, images=images), config=Config()
        )
        self._best: Suspect | None = None
        self._error: Exception | None = None

    def run(self) -> None:
        """Generate until all rounds or the budget are over.

        Raises:
            Exception: the kit's own.
        """
        _CANARIES.set(self.canaries)
        self.bridge.start()
        with contextlib.suppress(Spent):
            for number in range(ROUNDS):
                for operation in _OPERATIONS:
                    self._try(operation, number)
        if self._error is not None:
            raise self._error

    def judge(self, sample: Sample) -> tuple[Exchange, Fault | None]:
        """Send a sample with fresh ids and judge the answer.

        Raises:
            Spent: the requests it may send were used up.
        """
        _CANARIES.set(self.canaries)
        case = self._schema[f"/{sample.operation}"]["POST"].Case(
            body=sample.body, media_type="application/json"
        )
        return self._judged(case, sample, self.bridge.send_anyway)

    # -- generating ------------------------------------------------------------------

    def _try(self, operation: Operation, number: int) -> None:
        self._best = None
        try:
            self._generate(operation, number)
        finally:
            if self._best is not None:
                self._confirm(self._best)

    def _generate(self, operation: Operation, number: int) -> None:
        mode = GenerationMode.POSITIVE if self._legal else GenerationMode.NEGATIVE
        cases = self._schema[f"/{operation}"]["POST"].as_strategy(generation_mode=mode)
        quiet = settings(
            max_examples=EXAMPLES,
            database=None,
            deadline=None,
            print_blob=False,
            report_multiple_bugs=False,
            phases=(Phase.generate, Phase.shrink),
            suppress_health_check=list(HealthCheck),
            verbosity=Verbosity.quiet,
        )

        @seed(self.bridge.trial.run.seed + number)
        @quiet
        @given(cases, st.sampled_from((None, 0, 1)), st.booleans())
        def generated(case: Case[Any], canary: int | None, asks: bool) -> None:
            chosen = canary if self._legal else None
            try:
                self._one(case, Sample(operation, case.body, chosen, asks))
            except _Faulty:
                raise
            except Exception as error:
                self._error = error  # the kit's own: nothing to shrink
                raise Spent from error

        # What was found is in _best; what Hypothesis calls flaky is judged by _confirm.
        with contextlib.suppress(_Faulty, HypothesisException):
            generated()

    def _one(self, case: Case[Any], sample: Sample) -> None:
        why = ("", "") if self._legal else _reason(case)
        if why is None or self._known(sample, why[1]):
            return
        self.sent += 1
        made, fault = self._judged(case, sample, self.bridge.send_once)
        self.refused += made.status is not None and 400 <= made.status < 500
        if fault is None:
            if not self._legal and made.status == 200:
                suspect = Suspect(sample, Fault("", ""), *why)
                self.accepted.setdefault((sample.operation, why[1]), (suspect, made))
            return
        suspect = Suspect(sample, fault, *why)
        if self._enough(suspect):
            return
        best = self._best
        if best is None or (suspect.like(best) and suspect.sample.size <= best.sample.size):
            self._best = suspect
        if suspect.like(self._best):
            raise _Faulty

    def _known(self, sample: Sample, place: str) -> bool:
        """Whether the fault that this sample may show has a cause that was found already."""
        for found in self.found:
            if found.suspect.sample.operation != sample.operation:
                continue
            if not self._legal and found.suspect.place == place:
                return True
            odd = found.oddity
            if odd and canonical(odd.tame(sample)) != canonical(sample):
                return True
        return False

    def _enough(self, suspect: Suspect) -> bool:
        """Whether this fault was found before, or never repeats."""
        known = any(
            suspect.like(one.suspect) and one.oddity is None and self._legal for one in self.found
        )
        return known or sum(map(suspect.like, self.unrepeated)) >= TRIES

    def _judged(
        self,
        case: Case[Any],
        sample: Sample,
        send: Callable[[Operation, list[Any]], list[Exchange]],
    ) -> tuple[Exchange, Fault | None]:
        ns = Namespace(0, self.bridge.trial.run.salt, f"{self.bridge.trial.rule.name}")
        prefix = f"{ns.user('fuzz')}:{len(self.bridge.trial.exchanges)}:"
        case.body = sample.named(prefix, self.canaries)
        made = send(sample.operation, [case.body])[0]
        return made, self._fault(case, made)

    def _fault(self, case: Case[Any], made: Exchange) -> Fault | None:
        if made.status is None:
            return Fault("answer", f"was not answered: {made.summary}")
        if made.status >= 500:
            return Fault("server error", f"was answered {made.status}")
        if made.status != 200:
            return None  # a refusal; structure/* judges other statuses
        try:
            case.validate_response(_response(made), checks=list(CHECKS))
        except FailureGroup as group:
            failure = group.exceptions[0]
            kind = _CANARY if _CANARY in str(failure) else type(failure).__name__
            return Fault(kind, f"was answered 200, but: {_words(failure)}")
        return None

    # -- confirming ------------------------------------------------------------------

    def _confirm(self, suspect: Suspect) -> None:
        """Send it again, and without each of its oddities: one of them may be the cause."""
        try:
            made, fault = self.judge(suspect.sample)
            if fault is None or fault.check != suspect.fault.check:
                self.unrepeated.append(suspect)
                return
            oddity = self._cause(suspect)
        except Spent:
            self.unrepeated.append(suspect)
            return
        what = suspect.reason and f"an invalid {_name(suspect)} ({suspect.reason})"
        what = what or f"a legal {_name(suspect)}"
        shown: tuple[Exchange, ...] = (made,)
        if fault.check == _CANARY:
            shown = (*(canary.added for canary in self.canaries), made)
        cause = f" because of {oddity.words}" if oddity else ""
        self.found.append(Found(suspect, f"{what} {fault.message}{cause}", oddity, shown))

    def _cause(self, suspect: Suspect) -> Oddity | None:
        """The oddity without which the request is answered well."""
        if not self._legal or suspect.fault.check not in ("server error", "answer"):
            return None
        for oddity in ODDITIES:
            tamed = oddity.tame(suspect.sample)
            if canonical(tamed) != canonical(suspect.sample) and self.judge(tamed)[1] is None:
                return oddity
        return None


def _name(suspect: Suspect) -> str:
    return suspect.sample.operation.capitalize()


def _reason(case: Case[Any]) -> tuple[str, str] | None:
    """Why a negative case is invalid, and where.

    ``None`` if an unknown key is the reason, which is none, or if there are several:
    nobody could say which of them matters.
    """
    data = case.meta.phase.data if case.meta else None
    mutations = data.mutations if data else ()
    places = {
        "/".join("*" if isinstance(step, int) else str(step) for step in mutation.path)
        for mutation in mutations
    }
    unknown = any("additionalProperties" in mutation.keywords for mutation in mutations)
    if unknown or len(places) > 1:
        return None
    place = places.pop() if places else ""
    words = " ".join(((data.description if data else None) or "invalid").split())
    words = re.sub(r" at /(\$ref/[^/ ]+/)?\S*", "", words.removeprefix("- "))
    return (f"{place}: " if place else "") + words[:160], place


def _words(failure: Failure) -> str:
    text = str(failure)
    lines = (text.partition(f"`{_CANARY}`")[2] or text).splitlines()
    text = "; ".join(" ".join(line.split()) for line in lines if line.strip())
    return text if len(text) <= 300 else f"{text[:299]}…"


def _response(made: Exchange) -> Response:
    request = requests.Request(made.method, made.url, data=made.body).prepare()
    return Response(
        status_code=cast("int", made.status),
        headers={name: [value] for name, value in made.reply_headers.items()},
        content=made.reply,
        request=request,
        elapsed=made.seconds,
        verify=True,
    )
