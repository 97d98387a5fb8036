"""A history: calls on one endpoint, and what a model of the contract says of the answers.

The model knows what was acknowledged, for whom, and how often. It never asks for more than
every reading of the contract does: an id may be refused, a request may fail, a text may
come back with other text around it, and more than once. What it does not allow is that
others change what a user has or sees.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from typing import Any, Literal, Self

from aml_contract.exchange import Exchange, NotStrictJSONError, Operation
from aml_contract.finding import NotTested
from aml_contract.fuzz.ids import Form, Tag
from aml_contract.namespace import Marker, Topic, squeeze
from aml_contract.rule import Capability
from aml_contract.techniques.resemblance import resemblance
from aml_contract.techniques.twins import show
from aml_contract.trial import Trial

TEXTS = 14
"""Different texts of one history, all found by one query; and one that was there before."""
_BLAMED = frozenset({500, 502})
"""Server errors that are no wish for patience."""
_LATER = frozenset({408, 409, 425, 429})
_IDS = ("request_id", "user_id", "session_id")

Send = Callable[[Operation, Sequence[Any]], list[Exchange]]


class Kind(StrEnum):
    """What a history can show."""

    LEAK = "leak"
    LOSS = "loss"
    DUPLICATE = "duplicate"
    ECHO = "echo"
    REFUSAL = "refusal"


@dataclass(frozen=True)
class Call:
    """One call, in templates: it can be made again with fresh ids."""

    kind: Literal["add", "search"]
    user: Form
    request: str = ""
    session: str = ""
    text: int = 0
    alias: str = ""
    """A key beside ``user_id`` that holds ``named``."""
    named: str = ""
    wait: float = 0.0
    """Seconds before it, scaled by the run's patience."""
    elsewhere: bool = False
    """Made with ids of another history, as something that was there before."""

    def as_json(self) -> dict[str, Any]:
        """For a report."""
        return asdict(self)

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> Self:
        """Read what :meth:`as_json` wrote.

        Raises:
            TypeError: it is something else.
        """
        return cls(**{**values, "user": Form(**values["user"])})


class Breach(Exception):  # noqa: N818  a finding is not an error of the program
    """An answer that the model does not allow."""

    def __init__(
        self, kind: Kind, message: str, *shown: Exchange, before: Call | None = None
    ) -> None:
        super().__init__(message)
        self.kind = kind
        self.message = message
        self.shown = shown
        self.call: Call | None = None
        self.before = before
        """The Add of an earlier history whose text came back."""


@dataclass
class Memory:
    """What a user has for certain: what came to no good end may be there as well."""

    certain: set[int] = field(default_factory=set)
    """The texts of acknowledged Adds."""
    seen: dict[int, int] = field(default_factory=dict)
    """How often each text came back at least since the user's last new Add."""


@dataclass(frozen=True)
class Told:
    """A text that some user told: whose words are these?"""

    call: Call
    users: set[str]
    added: Exchange


class Library:
    """Every text that the histories of one run told, by its invented words."""

    def __init__(self) -> None:
        self._told: dict[str, Told] = {}
        self._texts: dict[str, list[Marker]] = {}

    def tell(self, marker: Marker, call: Call, user: str, added: Exchange) -> None:
        """This user may have this text from now on."""
        if marker.text not in self._told:
            self._told[marker.text] = Told(call, set(), added)
            for word in marker.words:
                self._texts.setdefault(word, []).append(marker)
        self._told[marker.text].users.add(user)

    def foreign(self, content: str, user: Any) -> Told | None:
        """A text in ``content`` that this user never told."""
        words = set(re.findall(r"\w+", content.casefold()))
        found: Counter[str] = Counter()
        for word in words:
            found.update(marker.text for marker in self._texts.get(word, ()))
        for text, count in found.items():
            if count >= 3 and user not in self._told[text].users:
                return self._told[text]
        return None


class History:
    """Makes calls with the ids of one tag and judges each answer as it comes.

    Args:
        trial: for bodies and readings.
        send: sends requests of one kind side by side.
        tags: the ids, and those of what was there before.
        topic: the texts.
        library: what was told, in this history and in earlier ones.
        alone: makes the same call where nothing else happened; what it was answered.
    """

    def __init__(  # noqa: PLR0913, PLR0917  what a history is made of
        self,
        trial: Trial,
        send: Send,
        tags: tuple[Tag, Tag],
        topic: Topic,
        library: Library,
        alone: Callable[[Call], Exchange] | None,
    ) -> None:
        self._trial = trial
        self._send = send
        self._tags = tags
        self._topic = topic
        self._library = library
        self._alone = alone
        self._memories: dict[str, Memory] = {}
        self._requests: dict[tuple[str, str], tuple[str, int]] = {}
        self._acknowledged: set[tuple[str, str]] = set()
        self._added: dict[tuple[str, int], Exchange] = {}
        self.refused = 0
        """Adds that were refused for what they are; ids are opaque, but no rule of this."""
        self.exchanges: list[Exchange] = []

    def make(self, *calls: Call) -> None:
        """Make calls of one kind side by side, then judge their answers.

        Raises:
            Breach: one is not allowed; ``call`` says which.
        """
        bodies = [self._body(call) for call in calls]
        made = self._send(calls[0].kind, bodies)
        self.exchanges += made
        for call, body, exchange in zip(calls, bodies, made, strict=True):
            try:
                if call.kind == "add":
                    self._judge_add(call, body, exchange)
                else:
                    self._judge_search(call, body, exchange)
            except Breach as breach:
                breach.call = call
                raise

    def _body(self, call: Call) -> dict[str, Any]:
        fill, user = self._tags[call.elsewhere].fill, self._user(call)
        if call.kind == "add":
            text = self._topic.markers[call.text].text
            ids = {"request": fill(call.request), "session": fill(call.session)}
            body = self._trial.add_body(user, text, **ids)
        else:
            body = self._trial.search_body(user, self._topic.query)
        return body | ({call.alias: fill(call.named)} if call.alias else {})

    # -- Add -------------------------------------------------------------------------

    def _judge_add(self, call: Call, body: Mapping[str, Any], made: Exchange) -> None:
        if call.user.raw:
            nobody = _no_string(body["user_id"])
            self._library.tell(self._topic.markers[call.text], call, nobody, made)
            return
        user, request = body["user_id"], body["request_id"]
        memory = self._memories.setdefault(user, Memory())
        known = self._requests.setdefault((user, request), (body["session_id"], call.text))
        new = (user, request) not in self._acknowledged
        again = known == (body["session_id"], call.text)
        self._library.tell(self._topic.markers[call.text], call, user, made)
        if made.status != 200:
            memory.seen.clear()
            if again and _refused(made):
                self._judge_refusal(call, made, again=not new)
            return
        self._check_echo(made, body)
        if new and again:
            self._acknowledged.add((user, request))
            self._added.setdefault((user, call.text), made)
            memory.certain.add(call.text)
        if new or not again:  # R4: another body may have been stored; other rules speak of that
            memory.seen.clear()

    def _judge_refusal(self, call: Call, made: Exchange, *, again: bool) -> None:
        """A refusal is nobody's fault but the id's, unless it is taken when sent alone."""
        if self._alone is None or len(self.exchanges) == 1:
            self.refused += 1
            return
        alone = self._alone(call)
        if alone.status != 200:
            self.refused += 1
            return
        user = show(self._user(call))
        request = show(self._tags[call.elsewhere].fill(call.request))
        what = (
            f"the repeat of user {user}'s request {request}"
            if again
            else f"request_id {request} of user {user}, who never used it before,"
        )
        raise Breach(
            Kind.REFUSAL,
            f"{what} was answered {made.summary}; alone it is accepted",
            *self.exchanges[-3:],
        )

    @staticmethod
    def _check_echo(made: Exchange, body: Mapping[str, Any]) -> None:
        try:
            reply = made.json
        except NotStrictJSONError:
            return  # structure/add-json
        if not isinstance(reply, dict):
            return  # structure/add-success
        for name in _IDS:
            if name in reply and reply[name] != body[name]:
                raise Breach(
                    Kind.ECHO,
                    f"{name} {show(body[name])} came back as {show(reply[name])}",
                    made,
                )

    # -- Search ----------------------------------------------------------------------

    def _judge_search(self, call: Call, body: Mapping[str, Any], made: Exchange) -> None:
        user = body["user_id"]
        if call.user.raw:
            if made.status == 200:
                nobody = _no_string(user)
                self._check_foreign(made, f"{nobody},", nobody)
            return
        memory = self._memories.get(user, Memory())
        if made.status == 200:
            who = f"user {show(user)}"
            if call.alias:
                who += f" ({call.alias}: {show(body[call.alias])} beside user_id)"
            self._check_foreign(made, who, user)
            self._check_own(made, user, memory)
        elif _refused(made) and memory.certain and not call.alias:
            # Of another spelling beside user_id input/unknown-keys speaks.
            added = self._added[user, min(memory.certain)]
            raise Breach(
                Kind.LOSS,
                f"a memory was stored for user {show(user)}, but its Search is answered "
                f"{made.summary}",
                added,
                made,
            )

    def _check_foreign(self, made: Exchange, who: str, user: str) -> None:
        for content in self._contents(made):
            told = self._library.foreign(content, user)
            if told is not None:
                owner = min(told.users)
                alike = resemblance(user, owner)
                here = told.call if told.added not in self.exchanges else None
                raise Breach(
                    Kind.LEAK,
                    f"{who} sees a memory of {_named(owner)}" + (alike and f"; {alike}"),
                    told.added,
                    *self._added_by(user),
                    made,
                    before=here,
                )

    def _added_by(self, user: str) -> list[Exchange]:
        """The first Add of a user, if there was one."""
        return [made for (name, _), made in self._added.items() if name == user][:1]

    def _user(self, call: Call) -> Any:
        return call.user.value(self._tags[call.elsewhere])

    def _check_own(self, made: Exchange, user: str, memory: Memory) -> None:
        contents = self._contents(made)
        verbatim = Capability.VERBATIM in self._trial.run.capabilities
        for text in sorted(memory.certain):
            marker = self._topic.markers[text]
            if not marker.shown_by(contents, verbatim=verbatim):
                raise Breach(
                    Kind.LOSS,
                    f"user {show(user)} does not find its own memory, stored with 200",
                    self._added[user, text],
                    made,
                )
            if not verbatim:
                continue
            count = sum(squeeze(content).count(squeeze(marker.text)) for content in contents)
            before = memory.seen[text] = min(count, memory.seen.get(text, count))
            if count > before:
                raise Breach(
                    Kind.DUPLICATE,
                    f"user {show(user)} had a text {_times(before)} and now has it "
                    f"{_times(count)}, though it added nothing new",
                    *self.exchanges[-4:],
                )

    # -- inside ----------------------------------------------------------------------

    def _contents(self, made: Exchange) -> list[str]:
        try:
            return [item.content for item in self._trial.items(made)]
        except NotTested:
            return []  # structure/search-envelope


def _no_string(user: Any) -> str:
    """What stands for a ``user_id`` that names nobody, though it may be accepted."""
    return f"user_id {json.dumps(user)}, which is no string"


def _named(owner: str) -> str:
    """A user for a message, or what is no user."""
    return owner if owner.endswith(", which is no string") else f"user {show(owner)}"


def _refused(made: Exchange) -> bool:
    status = made.status
    if status is None:
        return False
    return status in _BLAMED or (400 <= status < 500 and status not in _LATER)


def _times(count: int) -> str:
    return "once" if count == 1 else f"{count} times"
