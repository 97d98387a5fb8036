import re
from collections import Counter

import bm25s.stopwords
import pytest

from aml_contract.probe.language import LANGUAGES, language
from aml_contract.probe.lives import Parameters, live
from aml_contract.probe.world import MODES, World
from tests.probe.courses import world


def told(of):
    """Everything that is sent for each user."""
    return [user.sessions for user in of.users]


def test_it_is_a_function_of_seed_and_run():
    assert told(world()) == told(world())
    assert told(world(seed=2)) != told(world())


def test_more_users_do_not_change_those_before_them():
    assert told(world(users=2)) == told(world(users=4))[:2]


def test_another_run_has_other_names_and_is_the_same_otherwise():
    one, other = world(run="r1"), world(run="r2")
    assert [user.life for user in one.users] == [user.life for user in other.users]
    names = [{name.word for user in each.users for name in user.names} for each in (one, other)]
    assert not names[0] & names[1]

    def nameless(of):
        words = re.compile("|".join(name.word for user in of.users for name in user.names))
        return [words.sub("-", m.content) for m in messages(of)]

    assert nameless(one) == nameless(other)


def messages(of):
    return [
        message
        for user in of.users
        for period in user.sessions
        for session in period
        for message in session.messages
    ]


@pytest.mark.parametrize("code", LANGUAGES)
def test_names_are_of_one_user_and_found_wherever_they_are_said(code):
    of = world(code=code)
    names = [name for user in of.users for name in user.names]
    assert len({name.word.casefold() for name in names}) == len(names)
    for user in of.users:
        for session in (session for period in user.sessions for session in period):
            mentioned = of.register.mentions(session.messages[0].content)
            if session.name is None:
                assert mentioned == ()
            else:
                assert session.name in mentioned
                assert {name.user for name in mentioned} == {user.number}
                assert {name.slot for name in mentioned} == {session.name.slot}
            assert of.register.mentions(session.messages[1].content) == ()


def test_names_are_found_in_other_case_and_not_inside_other_words():
    of = world()
    name = of.users[0].names[0]
    assert of.register.mentions(f"x: {name.word.upper()}!") == (name,)
    assert of.register.mentions(f"{name.word}s") == ()


@pytest.mark.parametrize("code", LANGUAGES)
def test_times_only_go_on(code):
    for user in world(code=code).users:
        times = [
            m.timestamp for period in user.sessions for session in period for m in session.messages
        ]
        assert times == sorted(set(times))
        assert times[0] > 1_900_000_000_000


def test_lives_change_as_often_as_they_should_and_go_back_in_a_third():
    lives = [live(seed, 0, Parameters()) for seed in range(30)]
    changes = [change for life in lives for period in life.changes[1:] for change in period]
    assert len(changes) == 30 * 40
    returned = 0
    for life in lives:
        assert max(Counter(c.slot for p in life.changes[1:] for c in p).values()) <= 3
        for period in range(1, 11):
            for change in life.changes[period]:
                assert life.states[period][change.slot] == change.value != change.old
                held = {state[change.slot] for state in life.states[:period]}
                returned += change.value in held
                assert change.old in life.superseded(period, change.slot)
    assert 0.25 < returned / len(changes) < 0.35


def test_what_is_said_and_what_is_true_are_the_same():
    for user in world().users:
        for period in range(5):
            for slot in range(20):
                session = user.evidence(period, slot)
                assert session.name == user.name(slot, user.current(period, slot))
                assert session.name.word in session.sentence
                assert period in user.tenure(period, slot)


def test_exceptions_end_before_they_are_asked_about_and_references_follow_the_change():
    for user in world(periods=8).users:
        for period in user.sessions:
            places = {}
            for number, session in enumerate(period):
                if session.subject == "value":
                    places[session.change.slot] = number
                if session.subject == "reference":
                    assert places[session.name.slot] < number


@pytest.mark.parametrize("code", LANGUAGES)
def test_scenes_and_advice_share_no_content_word_with_names(code):
    for slot in language(code).slots:
        parts = [content(text, code) for text in (slot.name, slot.scene, slot.advice)]
        assert not parts[0] & parts[1], slot.name
        assert not parts[0] & parts[2], slot.name
        assert not parts[1] & parts[2], slot.name


def content(text, code):
    """Words that say something; of Chinese, pairs of characters."""
    text = text.replace("{value}", " ")
    if code == "zh":
        runs = re.findall(r"\w+", text)
        return {run[n : n + 2] for run in runs for n in range(len(run) - 1)} - COMMON_PAIRS
    words = set(re.findall(r"[a-z]+", text.lower())) - ORDINARY
    return {re.sub(r"(ing|ed|s|er)$", "", word) for word in words}


ORDINARY = {
    *bm25s.stopwords.STOPWORDS_EN,
    *("could", "do", "from", "go", "had", "have", "her", "how", "i", "me", "my", "should", "so"),
    *("were", "what", "where", "which", "who", "whom", "would"),
}
COMMON_PAIRS = {"怎么", "什么", "怎样", "每周", "应该"}


def test_small_talk_names_no_slot():
    for code in LANGUAGES:
        spoken = language(code)
        texts = [*spoken.talk.sentences, *(word for list_ in spoken.talk.words for word in list_)]
        for slot in spoken.slots:
            assert not any(slot.name in text for text in texts), slot.name


def test_every_slot_is_asked_once_in_each_mode():
    of = world()
    for user in of.users:
        asked = of.questions(user, MODES)
        for mode in MODES:
            slots = [slot for question in asked if question.mode == mode for slot in question.slots]
            assert sorted(slots) == list(range(20))
        assert len(asked) == 50


def test_a_world_of_the_default_size_is_as_large_as_said():
    (user,) = World(1, "r1", Parameters(users=1)).users
    assert sum(map(len, user.sessions)) == pytest.approx(400, abs=20)
