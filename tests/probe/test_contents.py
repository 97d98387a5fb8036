"""What is counted of contents, whatever the question was."""

from datetime import UTC, datetime

from aml_contract.probe.asking import Asked, Record
from aml_contract.probe.contents import of_contents
from aml_contract.probe.metrics import at_depth
from aml_contract.probe.reply import Item, reply_of
from aml_contract.probe.world import Question
from tests.probe.courses import world

OF = world(users=1)
USER = OF.users[0]
PERIOD = 4


def session(subject):
    """The first session of the first user about this."""
    every = (each for told in USER.sessions for each in told)
    return next(each for each in every if each.subject == subject)


def record(*items, slot=0):
    """What is seen if these items come back once."""
    reply = reply_of([Item(*item) for item in items], OF.register)
    return Record(asked=[Asked(0, PERIOD, Question("direct", "?", (slot,)), reply)])


def value(metric, *items, slot=0):
    return of_contents(OF, record(*items, slot=slot)).figure(metric).value


def test_what_others_have_is_fabricated_only_if_it_is_not_said_whose_it_is():
    other = session("other")
    assert value("fabrication", (other.sentence,)) == 0
    assert value("fabrication", (f"The user likes {other.name.word}.",)) == 1


def test_what_is_planned_is_fabricated_only_if_it_is_told_as_true():
    plan = session("plan")
    assert value("fabrication", (plan.sentence,)) == 0
    assert value("fabrication", (f"The user's is {plan.name.word}.",)) == 1


def test_a_time_is_that_of_the_event_within_a_day():
    told = session("value")
    at = told.messages[0].timestamp / 1000
    now = datetime.now(UTC).timestamp()
    items = [(told.sentence, at), (told.sentence, at + 80_000), (told.sentence, now)]
    assert value("event_time", *items) == round(2 / 3, 4)
    assert value("dated", *items, (told.sentence, None)) == 0.75


def test_density_is_the_share_of_characters_that_tell_what_was_asked():
    name = USER.name(0, USER.current(PERIOD, 0)).word
    assert value("density", (name,), ("x" * len(name),)) == 0.5
    assert value("characters", (name,), ("x" * len(name),)) == 2 * len(name)
    assert value("tokens", ("one",), ("two",)) == 2


def test_an_exception_that_has_ended_is_not_to_come_first():
    over = session("temporary")
    slot = over.name.slot
    name = USER.name(slot, USER.current(PERIOD, slot)).word

    def first(*items):
        seen = record(*items, slot=slot)
        return at_depth(OF, seen, "direct", 10).figure("temporary_first").value

    assert first((over.sentence,), (name,)) == 1
    assert first((name,), (over.sentence,)) == 0
    assert first((over.sentence,)) == 1
    assert first((name,)) == 0
