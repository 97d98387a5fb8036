import pytest

from aml_contract.probe.asking import Asked, Place, Record
from aml_contract.probe.intervals import ratio
from aml_contract.probe.metrics import at_depth
from aml_contract.probe.readers import READERS, choice
from aml_contract.probe.reply import Item, Reply, Shown, item_of, reply_of
from aml_contract.probe.stages import stage_of
from aml_contract.probe.world import Question
from tests.probe.courses import world

OF = world(users=1)
USER = OF.users[0]
PERIOD = 4
CHANGED = next(slot for slot in range(20) if USER.life.superseded(PERIOD, slot))
NOW = USER.name(CHANGED, USER.current(PERIOD, CHANGED)).word
BEFORE = USER.name(CHANGED, min(USER.life.superseded(PERIOD, CHANGED))).word


def figures(*contents, among=10):
    """What is made of one reply about a slot that has changed."""
    reply = reply_of([Item(content) for content in contents], OF.register)
    record = Record(asked=[Asked(0, PERIOD, Question("direct", "?", (CHANGED,)), reply)])
    found = at_depth(OF, record, "direct", among).figures()
    return {metric: figure.value for metric, figure in found.items()}


def test_what_is_true_first():
    found = figures(f"It is {NOW}.", f"It was {BEFORE}.")
    assert (found["hit"], found["mrr"], found["ok"]) == (1, 1, 1)
    assert (found["stale_exposed"], found["stale_first"], found["stale_only"]) == (1, 0, 0)


def test_what_is_outdated_first():
    found = figures(f"It was {BEFORE}.", f"It is {NOW}.")
    assert (found["hit"], found["mrr"], found["resolved_wrong"]) == (1, 0.5, 1)
    assert (found["stale_exposed"], found["stale_first"], found["stale_only"]) == (1, 1, 0)


def test_what_is_outdated_alone():
    found = figures("small talk", f"It was {BEFORE}.")
    assert (found["hit"], found["mrr"], found["write"]) == (0, 0, 1)
    assert (found["stale_exposed"], found["stale_first"], found["stale_only"]) == (1, 1, 1)


def test_both_in_one_item_are_not_outdated_first():
    found = figures(f"No longer {BEFORE} but {NOW}.")
    assert (found["hit"], found["stale_exposed"], found["stale_first"]) == (1, 1, 0)


def test_only_the_first_items_count():
    contents = [f"It was {BEFORE}.", *["small talk"] * 9, f"It is {NOW}."]
    assert figures(*contents)["hit"] == 0
    assert figures(*contents)["stale_only"] == 1
    assert figures(*contents, among=20)["hit"] == 1
    assert figures(*contents, among=20)["stale_only"] == 0


def test_readers_choose_by_their_rules():
    old, new = (USER.name(CHANGED, value) for value in (0, 1))
    items = [
        Shown((old, new), 5.0, ""),
        Shown((new, old), 7.0, ""),
        Shown((), 9.0, ""),
        Shown((new,), None, ""),
    ]

    def chosen(reader, shown):
        return choice(READERS[reader], shown, 0, CHANGED, 10)

    assert chosen("top", items) == old
    assert chosen("latest", items) == old
    assert chosen("vote", items) == new
    undated = [Shown(item.names, None, "") for item in items]
    assert chosen("latest", undated) == chosen("top", undated)
    assert chosen("top", items[2:3]) is None
    assert choice(READERS["top"], items[::-1], 0, CHANGED, 1) == new


def test_memory_scores_are_one_if_both_are_right_and_near_nothing_if_none_is_mentioned():
    pair = next(pair for pair in USER.life.pairs)
    words = [USER.name(slot, USER.current(PERIOD, slot)).word for slot in pair]

    def score(*contents):
        reply = reply_of([Item(content) for content in contents], OF.register)
        record = Record(asked=[Asked(0, PERIOD, Question("joint", "?", pair), reply)])
        return at_depth(OF, record, "joint", 10).figure("memory_top").value

    assert score(*words) == 1
    assert score() == 0
    assert score(words[0]) == pytest.approx((1 / 6 - 1 / 36) / (1 - 1 / 36), abs=1e-4)


@pytest.mark.parametrize(
    ("visible", "still", "stage"),
    [
        (True, {4: True}, "crowded"),
        (False, {4: True}, "crowded"),
        (True, {4: False}, "lost"),
        (False, {3: True, 4: False}, "lost"),
        (False, {4: False, 5: True}, "late"),
        (False, {4: False, 5: False}, "write"),
        (False, {4: False, 7: True}, "write"),
    ],
)
def test_stages_of_what_did_not_come_back(visible, still, stage):
    record = Record(
        visible={Place(0, 3, 1): visible},
        still={Place(0, period, 1): found for period, found in still.items()},
    )
    assert stage_of(record, Place(0, 4, 1), tenure=range(3, 6), chosen=None) == stage


def test_intervals_are_of_users_and_always_the_same():
    figure = ratio([1, 5, 9], [10, 10, 10])
    assert figure == ratio([1, 5, 9], [10, 10, 10])
    assert (figure.value, figure.low, figure.high, figure.of) == (0.5, 0.1, 0.9, 30)
    assert ratio([0, 0], [0, 0]) is None
    assert ratio([1], [4]).low is None


@pytest.mark.parametrize(
    ("created", "seconds"),
    [
        ("1970-01-01T00:00:10Z", 10.0),
        ("1970-01-01T01:00:00+01:00", 0.0),
        ("1970-01-01", 0.0),
        ("yesterday", None),
        (17, None),
        (None, None),
    ],
)
def test_times_are_read_as_they_are_meant(created, seconds):
    assert item_of({"content": "x", "created_at": created}).created == seconds


def test_the_first_mention_of_several_names():
    names = USER.names[:3]
    reply = Reply(tuple(Shown((name,), None, "") for name in names))
    assert reply.first(names[1:]) == 2
    assert reply.first([]) is None
