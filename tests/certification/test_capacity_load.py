"""The load and what is said of it, under a simulated clock: no test waits."""

import asyncio

import pytest

from aml_contract.certification.capacity.overhead import Overhead
from aml_contract.certification.capacity.sending import Sender
from aml_contract.certification.capacity.tally import Tally
from aml_contract.certification.capacity.users import Crowd
from aml_contract.certification.stage import StageVerdict
from tests.certification.loads import course, judged, loaded, said
from tests.certification.paced import Paced, Simulated, simulated

PASS, FAIL = StageVerdict.PASS, StageVerdict.FAIL
INCONCLUSIVE, INCOMPLETE = StageVerdict.INCONCLUSIVE, StageVerdict.INCOMPLETE


# -- what is in flight ---------------------------------------------------------------------


@pytest.mark.parametrize("adds", [1, 16, 40])
def test_as_many_as_declared_are_in_flight_and_never_more(adds):
    memory = Paced(spread=0.5)
    course(memory, adds=adds)
    assert memory.most == {"add": adds, "search": 16, "user": 1}


def test_never_more_although_requests_are_sent_again():
    memory = Paced(add=0.3, at_once=6, busy=503)
    course(memory)
    assert memory.most["add"] <= 16
    assert memory.most["user"] == 1


def test_searches_go_beside_adds():
    memory = Paced()
    made, _ = course(memory)
    width = made.data(texts_only=False).throughput
    both = [a and s for a, s in zip(width.adds, width.searches, strict=True)]
    assert any(both)
    assert sum(width.adds) == made.data(texts_only=False).add.accepted


def test_each_acknowledged_add_is_looked_for():
    memory = Paced()
    made, _ = course(memory)
    assert all(kept.looked for kept in made.record.kept)
    assert all(kept.found for kept in made.record.kept)


# -- the platform's retries ----------------------------------------------------------------


def sent(operation, answers, patience=1.0):
    """One logical request to an endpoint that gives these answers; when each was sent."""
    times = []

    class Scripted(Paced):
        async def answer(self, kind, body):
            times.append(asyncio.get_running_loop().time())
            await asyncio.sleep(0.25)
            status, headers = answers[min(len(times), len(answers)) - 1]
            return status, {}, headers

    async def go():
        tally = Tally(limit=1)
        sender = Sender(Simulated(Scripted()), {operation: tally}, patience)
        return await sender.send(operation, b'{"user_id": "u"}', 0.0)

    return simulated(go()), times


@pytest.mark.parametrize(
    ("operation", "status", "tries"),
    [
        ("add", 503, 32),
        ("search", 503, 6),
        ("add", 409, 32),
        ("search", 409, 1),
        ("add", 524, 32),
        ("search", 524, 1),
        ("add", 422, 1),
        ("search", 400, 1),
    ],
)
def test_it_is_sent_as_often_as_the_platform_sends_it(operation, status, tries):
    made, times = sent(operation, [(status, {})])
    assert made.tries == len(times) == tries


def test_after_429_it_waits_as_long_as_told_and_a_minute_if_not_told():
    made, times = sent("add", [(429, {"retry-after": "7"}), (429, {}), (200, {})])
    assert times == pytest.approx([0.0, 7.25, 67.5])
    assert made.waited == pytest.approx(67.0)
    assert made.seconds == pytest.approx(0.75)


def test_waits_are_shortened_in_tests_and_counted_whole():
    made, times = sent("add", [(429, {}), (200, {})], patience=0.1)
    assert times == pytest.approx([0.0, 6.25])
    assert made.waited == pytest.approx(60.0)


# -- latency -------------------------------------------------------------------------------


def test_in_time_is_a_pass_and_says_how_fast():
    judgement = judged(loaded(add=0.2))
    assert judgement.verdict is PASS
    assert "99 of 100 Adds take less than 200 ms (limit 500 ms)" in judgement.summary


def test_the_limit_is_90_seconds_if_more_is_declared():
    assert judged(loaded(add=80, limits=(90, 90), budget=7_200), add_timeout=1_800).verdict is PASS
    judgement = judged(loaded(add=100, limits=(90, 90)), add_timeout=1_800)
    assert judgement.verdict is FAIL
    assert "takes at least 100.0 s, and 90.0 s is the limit" in judgement.summary


def test_slow_searches_fail_as_slow_adds_do():
    judgement = judged(loaded(search=0.7))
    assert judgement.verdict is FAIL
    assert "Searches in flight, the slowest of 100 takes at least 700 ms" in judgement.summary


def test_what_is_far_too_slow_is_clear_after_few_requests():
    data = loaded(add=2.0)
    assert data.add.sample.count == 60
    assert judged(data).verdict is FAIL


def test_adds_that_are_never_answered_fail_though_all_others_are_fast():
    judgement = judged(loaded(hangs=20))
    assert judgement.verdict is FAIL
    assert "the slowest of 100" in judgement.summary
    assert "wait inside" not in said(judgement)


def test_too_few_requests_in_the_time_tell_nothing():
    judgement = judged(loaded(add=40, limits=(90, 90), budget=900), add_timeout=90)
    assert judgement.verdict is INCONCLUSIVE
    assert "to bound the slowest of 100 takes 597" in judgement.summary


def test_a_slow_kit_is_not_blamed_on_the_endpoint():
    data = loaded(add=0.7)
    assert judged(data).verdict is FAIL
    data.overhead = Overhead(floor=0.01, lag=0.4, most=2_000)
    judgement = judged(data)
    assert judgement.verdict is INCONCLUSIVE
    assert "410 ms of that may be the kit's own" in said(judgement)


# -- less than was declared ----------------------------------------------------------------


def test_a_quarter_of_what_is_declared_fails_where_the_queue_takes_too_long():
    judgement = judged(loaded(add=0.3, at_once=4))
    assert judgement.verdict is FAIL
    assert "it works on about 4 at a time, the others wait inside it" in judgement.summary


def test_a_quarter_is_named_where_all_are_in_time_nevertheless():
    judgement = judged(loaded(add=0.1, at_once=4))
    assert judgement.verdict is PASS
    assert (
        "It holds about 4 Adds in flight, 16 are declared: one takes 100 ms alone, and 400 ms "
        "beside so many others"
    ) in said(judgement)


def test_a_quarter_that_sends_the_others_away_is_given_up_or_named():
    judgement = judged(loaded(add=0.3, at_once=4, busy=429))
    assert judgement.verdict is FAIL
    assert "was still answered 429 at the last of" in judgement.summary
    data = loaded(add=0.3, search=0.001, at_once=7, busy=429)
    assert data.add.held in (5, 6, 7)
    assert data.add.sent_away > 0.1


@pytest.mark.parametrize("how", [{}, {"spread": 0.4}, {"growth": 0.1}, {"hangs": 90}])
def test_what_bears_the_declared_load_is_not_said_to_hold_less(how):
    assert "It holds" not in said(judged(loaded(add=0.05, **how)))


# -- what was acknowledged -----------------------------------------------------------------


def test_what_was_acknowledged_and_lost_is_a_failure():
    data = loaded(lose=100)
    assert data.memories.lost == data.memories.acknowledged // 100
    judgement = judged(data)
    assert judgement.verdict is FAIL
    assert "acknowledged Adds were not found afterwards" in judgement.summary


def test_what_a_rewriting_memory_does_not_show_is_no_loss():
    judgement = judged(loaded(lose=100, verbatim=False))
    assert judgement.verdict is PASS
    assert "of a memory that rewrites" in said(judgement)


def test_what_is_found_later_is_late_and_not_lost():
    data = loaded(late=0.05)
    assert data.memories.late > 0
    assert (data.memories.lost, data.memories.found) == (0, data.memories.acknowledged)
    judgement = judged(data)
    assert judgement.verdict is PASS
    assert "not by every Search after the acknowledgement" in said(judgement)


def test_what_is_ranked_too_low_is_not_lost():
    class Poor(Paced):
        """Finds by whole sentences alone."""

        def _found(self, user, body):
            return [i for i in super()._found(user, body) if i["content"] in body["query"]]

    made, _ = course(Poor(), budget=100)
    memories = made.data(texts_only=False).memories
    assert memories.lost == 0
    assert memories.deep == 50  # so many are looked for again
    assert memories.unseen == memories.acknowledged - 50


def test_real_texts_are_found_again():
    data = loaded(crowd=Crowd(1, "run", "capacity"))
    assert data.memories.found == data.memories.acknowledged >= 600
    assert data.memories.late == 0


# -- answers that end a stage --------------------------------------------------------------


def test_4xx_under_load_is_told_from_4xx_always():
    judgement = judged(loaded(permanent=422, at_once=8))
    assert judgement.verdict is FAIL
    assert "answered 422, which is never sent again, and worked when nothing else" in (
        judgement.summary
    )

    class Refuses(Paced):
        async def answer(self, kind, body):
            return 413, {}, {}

    made, _ = course(Refuses())
    judgement = judged(made.data(texts_only=False))
    assert judgement.verdict is FAIL
    assert "An Add was answered 413" in judgement.summary
    assert "alone it was answered 413" in judgement.summary


def test_a_server_that_dies_half_way_fails_and_says_so():
    data = loaded(dies=100)
    assert data.ended == "trouble"
    judgement = judged(data)
    assert judgement.verdict is FAIL
    assert "brought no answer (connection refused) at the last of" in judgement.summary


def test_a_200_that_breaks_the_contract_fails_and_shows_nothing_of_it():
    class Mixed(Paced):
        async def _answered(self, kind, user, body, number):
            status, reply, headers = await super()._answered(kind, user, body, number)
            if kind == "add" and number > 50:
                reply["session_id"] = "somebody's private words"
            return status, reply, headers

    made, _ = course(Mixed())
    judgement = judged(made.data(texts_only=False))
    assert judgement.verdict is FAIL
    assert "the answer to an Add has session_id" in judgement.summary
    assert "private" not in made.data(texts_only=False).model_dump_json()


def test_another_load_than_the_declared_one_is_no_measurement():
    judgement = judged(loaded(), add_concurrency=32)
    assert judgement.verdict is INCOMPLETE
    assert "The load was 16 Adds in flight, 32 are declared" in judgement.summary
