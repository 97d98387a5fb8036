"""Replays a case: a list of Adds and Searches in the JSON-lines format of the handed cases.

A step holds ``op`` with a ``request`` or a ``raw_body``, and perhaps ``repeat`` (with
``{i}`` and ``{i mod n}`` in its texts), ``parallel_group``, ``delay_ms``, ``before``,
``expand``, ``expect_status`` and ``fault``, the last four in words.
"""

import asyncio
import json
import re
from itertools import groupby

from aml_contract.body import dump
from aml_contract.exchange import parse_strict
from aml_contract.item import text_of

CLIENT_FAULT = re.compile(r"client gives up after (\d+) ms")
_EXPANDED = re.compile(r"\{(\d+) characters [^'}]*'([^']+)'( near the end)?[^}]*\}")
_FILLER = "slate and copper, gutters before the winter, another ladder against the northern wall; "


class Replay:
    """One case on one endpoint, and what came back.

    Args:
        case: the parsed line.
        endpoint: where it is sent.
        again: steps that are sent once more at the end; their answers are in :attr:`last`.
        fault: told the words of each step's ``fault`` before it, and ``None`` after it.
    """

    def __init__(self, case, endpoint, *, again=(), fault=None):
        self.case = case
        self.steps = case["steps"]
        self.endpoint = endpoint
        self.answers = [[] for _ in self.steps]
        self.last = {}
        self.system = None
        """The memory, where it is one of our own with a fault in it."""
        self._again = again
        self._fault = fault or (lambda words: None)

    async def run(self):
        numbered = list(enumerate(self.steps))
        for group, steps in groupby(numbered, lambda pair: pair[1].get("parallel_group")):
            if group is None:
                for number, step in steps:
                    self.answers[number] = await self._in_turn(step)
            else:
                together = list(steps)
                sent = [(number, n) for number, step in together for n in range(repeats(step))]
                made = await asyncio.gather(*(self._send(self.steps[k], n) for k, n in sent))
                for (number, _), one in zip(sent, made, strict=True):
                    self.answers[number].append(one)
        for number in self._again:
            self.last[number] = await self._send(self.steps[number], 0)

    async def _in_turn(self, step):
        if "restart" in step.get("before", ""):
            await self.endpoint.process.restart()
        await asyncio.sleep(step.get("delay_ms", 0) / 1000)
        if "{i" in step.get("request", {}).get("user_id", ""):  # users do not wait for each other
            return await asyncio.gather(*(self._send(step, n) for n in range(repeats(step))))
        return [await self._send(step, n) for n in range(repeats(step))]

    async def _send(self, step, n):
        body = step["raw_body"].encode() if "raw_body" in step else dump(request_of(step, n))
        words = step.get("fault")
        if words and (impatient := CLIENT_FAULT.match(words)):
            try:
                async with asyncio.timeout(int(impatient[1]) / 1000):
                    return await self.endpoint.send(step["op"], body, fresh=True)
            except TimeoutError:
                return None
        self._fault(words)
        try:
            return await self.endpoint.send(step["op"], body)
        finally:
            self._fault(None)

    # -- what was said and what came back ---------------------------------------------

    def told(self, step, message=0, n=0):
        """The text of a message that a step sends."""
        return text_of(request_of(self.steps[step], n)["messages"][message]["content"])

    def phrase(self, step, message=0):
        """The words that a generated text must hold."""
        content = self.steps[step]["request"]["messages"][message]["content"]
        return _EXPANDED.search(content)[2]

    def timestamp(self, step):
        return self.steps[step]["request"]["messages"][0]["timestamp"]

    def status(self, step, n=0):
        return self.answers[step][n].status

    def items(self, step, n=0):
        return parse_strict(self.answers[step][n].reply)["data"]

    def texts(self, step, n=0):
        return [text_of(item["content"]) for item in self.items(step, n)]

    def count(self, text, step, n=0):
        """In how many items of a Search's answer a text stands."""
        return sum(text in content for content in self.texts(step, n))

    def found(self, text, *steps):
        for step in steps:
            assert self.count(text, step), f"not found by step {step}"

    def absent(self, text, *steps):
        for step in steps:
            assert not self.count(text, step), f"found by step {step}"

    # -- what holds for every case ----------------------------------------------------

    def judge_answers(self, statuses):
        """Every answer has a status that is allowed and is well formed.

        Args:
            statuses: what is allowed by step, in words as ``expect_status`` is; otherwise 200.
        """
        for number, step in enumerate(self.steps):
            wanted = statuses.get(number) or step.get("expect_status") or "200"
            if number in statuses and "expect_status" in step:
                assert allows(step["expect_status"], statuses[number]), "laxer than the case"
            for n, made in enumerate(self.answers[number]):
                if made is None:
                    continue  # the client gave up
                where = f"step {number}, answer {n}: {made.summary}"
                assert made.status is not None, where
                assert allows(wanted, str(made.status)), where
                if made.status == 200:
                    self._well_formed(step, n, made)

    def _well_formed(self, step, n, made):
        answer = parse_strict(made.reply)
        sent = json.loads(step["raw_body"]) if "raw_body" in step else request_of(step, n)
        if step["op"] == "add":
            assert answer["success"] is True
            assert {key: answer[key] for key in answer if key != "success"} == {
                key: sent[key] for key in ("request_id", "user_id", "session_id")
            }
            return
        assert isinstance(answer["data"], list)
        assert len(answer["data"]) <= sent["top_k"]
        ids = [item["id"] for item in answer["data"]]
        assert all(isinstance(one, str) and one for one in ids)
        assert len(set(ids)) == len(ids), "one id on two items"
        assert all(text_of(item["content"]).strip() for item in answer["data"])
        assert None not in [value for item in answer["data"] for value in item.values()]


def messages(texts):
    """What stands in items: one may hold several messages of a session, parted by empty lines."""
    return [message for text in texts for message in text.split("\n\n")]


def allows(words, status):
    """Whether ``4xx, or 200 with nothing stored`` allows a status (``422``, or ``4xx``)."""
    allowed = re.findall(r"\b\d(?:\d\d|xx)\b", words)
    return any(one in (status, f"{status[0]}xx") for one in allowed)


def repeats(step):
    return step.get("repeat", 1)


def request_of(step, n):
    """The request of a step's ``n``-th time, its texts filled in."""
    text = json.dumps(step["request"])
    if "vary" in step:
        text = text.replace("{i}", str(n))
        text = re.sub(r"\{i mod (\d+)\}", lambda found: str(n % int(found[1])), text)
    request = json.loads(text)
    if "expand" in step:
        for message in request["messages"]:
            message["content"] = _EXPANDED.sub(_generated, message["content"])
    return request


def _generated(found):
    length, phrase, early = int(found[1]), found[2], found[3]
    after = f" {_FILLER * 3}" if early else ""
    before = (_FILLER * (length // len(_FILLER) + 1))[: length - len(phrase) - len(after) - 1]
    return f"{before} {phrase}{after}"
