"""A Hypothesis state machine that makes histories, and shrinks those with a breach."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass, replace
from itertools import groupby
from random import Random
from typing import ClassVar

from hypothesis import HealthCheck, Phase, Verbosity, seed, settings
from hypothesis import strategies as st
from hypothesis.errors import HypothesisException
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    precondition,
    rule,
    run_state_machine_as_test,
)

from aml_contract.exchange import Exchange
from aml_contract.fuzz.bridge import Bridge, Spent
from aml_contract.fuzz.history import TEXTS, Breach, Call, History, Kind, Library, Send
from aml_contract.fuzz.ids import FAMILIES, Family, Tag
from aml_contract.namespace import Namespace

ROUNDS = 8
"""How often each family of ids has its turn."""
EXAMPLES = 4
"""Histories of one family and round, before shrinking."""
STEPS = 5
"""Steps of one history at most; in some of them every user makes a call."""
LATER = 3.0
"""Seconds after which background work is taken to have run."""
TRIES = 3
"""Breaches of one kind that did not repeat until that kind is looked for no more."""


@dataclass(frozen=True)
class Story:
    """The fewest calls that showed a breach, the last of them when it was seen."""

    calls: tuple[Call, ...]
    kind: Kind
    message: str

    @property
    def size(self) -> tuple[int, int]:
        """Fewer calls are better, then simpler ones."""
        return len(self.calls), sum(len(call.user.text) + call.text for call in self.calls)


class Search:
    """The search for breaches on one endpoint.

    Args:
        bridge: sends, within a budget.
        rounds: how often each family of ids has its turn.
    """

    def __init__(self, bridge: Bridge, *, rounds: int = ROUNDS) -> None:
        self.bridge = bridge
        self.made = 0
        """Histories made, those of shrinking included."""
        self.refused = 0
        self.unrepeated: list[Story] = []
        self.found: tuple[Story, Breach] | None = None
        self._rounds = rounds
        self._library = Library()
        self._muted: set[Kind] = set()
        self._best: Story | None = None

    def run(self) -> None:
        """Search until a breach is found that repeats, or all rounds or the budget are over."""
        self.bridge.start()
        try:
            for number in range(self._rounds):
                families = list(FAMILIES)
                order = f"{self.bridge.trial.run.seed}/{number}"
                Random(order).shuffle(families)  # noqa: S311  not a secret
                for family in families:
                    self._try(family, number)
                    if self.found is not None:
                        return
        except Spent:
            return

    def _try(self, family: Family, number: int) -> None:
        self._best = None
        try:
            self._generate(family, number)
        except Spent:
            if self._best is None:
                raise
        if self._best is not None:
            self._confirm(self._fewest(self._best))

    def replay(self, calls: tuple[Call, ...]) -> Breach | None:
        """Make calls with fresh ids; the breach they show."""
        return self._tell(calls)

    # -- generating ------------------------------------------------------------------

    def _generate(self, family: Family, number: int) -> None:
        """Make histories until one breaks the model."""
        machine = seed(self.bridge.trial.run.seed + number)(_machine(self, family))
        quiet = settings(
            max_examples=EXAMPLES,
            stateful_step_count=STEPS,
            database=None,
            deadline=None,
            print_blob=False,
            report_multiple_bugs=False,
            phases=(Phase.generate,),  # _fewest shrinks: it needs far fewer requests
            suppress_health_check=list(HealthCheck),
            verbosity=Verbosity.quiet,
        )
        # What was found is in _best; what Hypothesis calls flaky is judged by _confirm.
        with contextlib.suppress(Breach, HypothesisException):
            run_state_machine_as_test(machine, settings=quiet)

    def begin(self) -> History:
        """A history with ids of its own."""
        return self._history(self.bridge.send, judged_alone=True)

    def keep(self, calls: list[Call], breach: Breach) -> bool:
        """Keep a breach if it is the simplest yet; whether it counts at all."""
        if breach.kind in self._muted:
            return False
        story = Story((*_before(breach), *calls), breach.kind, breach.message)
        if self._best is None or (story.kind is self._best.kind and story.size < self._best.size):
            self._best = story
        return story.kind is self._best.kind

    def _fewest(self, story: Story) -> Story:
        """Leave out calls, half of them at first, then fewer, while the breach stays."""
        calls = tuple(call for call in story.calls if not call.elsewhere)
        before = tuple(call for call in story.calls if call.elsewhere)
        size = len(calls) // 2
        with contextlib.suppress(Spent):
            while size:
                place = max(0, len(calls) - 1 - size)
                while True:
                    fewer = calls[:place] + calls[min(place + size, len(calls) - 1) :]
                    breach = self._tell(fewer, side_by_side=True) if fewer != calls else None
                    if breach is not None and breach.kind is story.kind:
                        calls, before = fewer, _before(breach)
                    if not place:
                        break
                    place = max(0, place - size)
                size = size // 2
        return replace(story, calls=(*before, *calls))

    # -- confirming ------------------------------------------------------------------

    def _confirm(self, story: Story) -> None:
        """Make the calls again with fresh ids, at once and then with a pause."""
        try:
            for calls in (story.calls, _late(story.calls)):
                breach = self._tell(calls)
                if breach is not None and breach.kind is story.kind and self._holds(calls, breach):
                    self.found = Story(calls, breach.kind, breach.message), breach
                    return
        except Spent:
            pass
        self.unrepeated.append(story)
        if sum(one.kind is story.kind for one in self.unrepeated) >= TRIES:
            self._muted.add(story.kind)

    def _holds(self, calls: tuple[Call, ...], breach: Breach) -> bool:
        """Whether a breach is more than lateness, or a system's own habit."""
        if breach.kind is Kind.LOSS:
            later = self._tell((*calls[:-1], replace(calls[-1], wait=LATER)))
            return later is not None and later.kind is Kind.LOSS
        if breach.kind is Kind.DUPLICATE:
            last = calls[-1]
            before = next((i for i, c in enumerate(calls) if _same_search(c, last)), 0)
            control = self._tell((*calls[: before + 1], *[last] * 4, replace(last, wait=LATER)))
            return control is None
        return True

    def _tell(self, calls: tuple[Call, ...], *, side_by_side: bool = False) -> Breach | None:
        history = self._history(self.bridge.send_anyway, judged_alone=True)
        alike = groupby(enumerate(calls), lambda c: (c[1].kind, c[1].wait, side_by_side or c[0]))
        for _, group in alike:
            together = tuple(call for _, call in group)
            if together[0].wait:
                self.bridge.pause(together[0].wait)
            try:
                history.make(*together)
            except Breach as breach:
                return breach
        return None

    # -- inside ----------------------------------------------------------------------

    def _history(self, send: Send, *, judged_alone: bool) -> History:
        trial = self.bridge.trial
        self.made += 1
        ns = Namespace(trial.run.seed, trial.run.salt, f"{trial.rule.name}/{self.made}")
        tags = Tag(_token(ns)), Tag(_token(ns))
        alone = self._alone if judged_alone else None
        return History(trial, send, tags, ns.topic(TEXTS + 1), self._library, alone)

    def _alone(self, call: Call) -> Exchange:
        history = self._history(self.bridge.send_anyway, judged_alone=False)
        history.make(call)
        return history.exchanges[-1]


def _machine(search: Search, family: Family) -> type[RuleBasedStateMachine]:
    """The machine of one search and family: Hypothesis makes an object of it per history."""
    return type("OneFamily", (_Machine,), {"search": search, "family": family})


_some = st.integers(0, TEXTS - 1)


class _Machine(RuleBasedStateMachine):
    """Starts with an Add of every user; then anything, one call or one of each user."""

    search: ClassVar[Search]
    family: ClassVar[Family]

    def __init__(self) -> None:
        super().__init__()
        self.history = self.search.begin()
        self.calls: list[Call] = []
        self.adds: list[Call] = []
        self.changed = False
        """Whether anything was added since everybody asked."""
        self.stored = [form for form in self.family.users if form.stored and not form.raw]
        self.odd = [form for form in self.family.users if form.stored and form.raw]

    @initialize(first=_some, step=st.integers(0, 1))
    def all_add(self, first: int, step: int) -> None:
        """Every user adds a text of its own, under one request_id or several."""
        self._make(*(self._add(n, first + step * n, 0, n) for n in range(len(self.stored))))

    @precondition(lambda self: self.changed)
    @rule()
    def all_search(self) -> None:
        """Every user asks the one question."""
        self.changed = False
        count = len(self.calls)
        self._make(*(self._asked(n, count + n) for n in range(len(self.family.users))))

    @rule(owner=_some)
    def others_copy(self, owner: int) -> None:
        """All but one user add the text that this one told first; it asks before and after."""
        owner %= len(self.stored)
        adds = [
            Call("add", form, f"{{u}}:copy-{owner}", "{u}:session-1", owner)
            for number, form in enumerate(self.stored)
            if number != owner
        ]
        self.adds += adds
        question = Call("search", self.stored[owner])
        self._make(question)
        self._make(*adds)
        self._make(question)

    @precondition(lambda self: self.adds)
    @rule(which=_some)
    def one_repeats(self, which: int) -> None:
        """An Add that was made before, unchanged; its user asks before and after."""
        again = self.adds[which % len(self.adds)]
        for call in (Call("search", again.user), again, Call("search", again.user)):
            self._make(call)

    @rule(user=_some, alias=_some)
    def one_searches(self, user: int, alias: int) -> None:
        """A Search."""
        self._make(self._asked(user, alias))

    @rule(user=_some, request=_some, session=st.integers(0, 1), text=_some)
    def one_adds(self, user: int, request: int, session: int, text: int) -> None:
        """An Add; where keys beside ``user_id`` matter, one of them names another user."""
        self._make(self._beside(self._add(user, request, session, text), user, request))

    @precondition(lambda self: self.odd)
    @rule(which=_some, text=_some)
    def nobody_adds(self, which: int, text: int) -> None:
        """An Add whose ``user_id`` is no string."""
        form = self.odd[which % len(self.odd)]
        self._make(Call("add", form, "{u}:odd", "{u}:session-0", text))

    def _add(self, user: int, request: int, session: int, text: int) -> Call:
        call = Call(
            "add",
            self.stored[user % len(self.stored)],
            self.family.requests[request % len(self.family.requests)],
            f"{{u}}:session-{session}",
            text % TEXTS,
        )
        self.adds.append(call)
        return call

    def _asked(self, user: int, alias: int) -> Call:
        users = self.family.users
        return self._beside(Call("search", users[user % len(users)]), user, alias)

    def _beside(self, call: Call, user: int, alias: int) -> Call:
        """The same, with a key of the family beside ``user_id`` that names another user."""
        users, keys = self.family.users, self.family.aliases
        if not keys:
            return call
        other = users[(user + 1) % len(users)].text
        return replace(call, alias=keys[alias % len(keys)], named=other)

    def _make(self, *calls: Call) -> None:
        if not calls:
            return
        self.changed |= calls[0].kind == "add"
        try:
            self.history.make(*calls)
        except Breach as breach:
            others = [call for call in calls if call is not breach.call]
            last = [breach.call] if breach.call else []
            if self.search.keep([*self.calls, *others, *last], breach):
                raise
        self.calls += calls


def _token(ns: Namespace) -> str:
    return f"{ns.random.getrandbits(48):012x}"


def _before(breach: Breach) -> tuple[Call, ...]:
    """The Add of an earlier history that a breach needs."""
    return (replace(breach.before, elsewhere=True, text=TEXTS),) if breach.before else ()


def _late(calls: tuple[Call, ...]) -> tuple[Call, ...]:
    return (*calls[:-1], replace(calls[-1], wait=LATER))


def _same_search(one: Call, other: Call) -> bool:
    return one.kind == "search" and one.user == other.user and one.alias == other.alias
