"""Markers tell whether a memory is there, rewritten, or somewhere it does not belong."""

import pytest

from aml_contract.namespace import Namespace
from aml_contract.techniques.twins import show


@pytest.fixture
def ns():
    return Namespace(7, "salt", "test/markers")


def test_marker_is_contained_not_equal(ns):
    marker = ns.marker()
    framed = f"[2024-01-01] user: {marker.text.upper()}\nneighbour"
    assert marker.shown_by(["another", framed]) == [1]
    assert not marker.shown_by([marker.text.replace(marker.words[0], "")])


def test_rewritten_marker_is_shown_by_half_of_its_words(ns):
    marker = ns.marker()
    assert marker.shown_by([f"Fact: {' / '.join(marker.words[:4])}"], verbatim=False)
    assert not marker.shown_by([f"Fact: {' / '.join(marker.words[:3])}"], verbatim=False)


def test_facts_made_from_one_marker_show_it_together(ns):
    marker = ns.marker()
    facts = [f"A fact: {' / '.join(marker.words[n : n + 2])}" for n in (0, 2, 4)]
    assert marker.shown_by([*facts, "another"], verbatim=False) == [0, 1, 2]
    assert not marker.shown_by(facts)
    assert not marker.shown_by(facts[:1], verbatim=False)


def test_three_words_are_a_leak_and_the_query_is_none(ns):
    topic = ns.topic(2)
    mine, other = topic.markers
    assert mine.leaks_into(" ".join(mine.words[-3:]))
    assert not mine.leaks_into(" ".join(mine.words[:2]))
    assert not mine.leaks_into(other.text)
    assert not mine.leaks_into(topic.query)


def test_markers_differ_in_many_words(ns):
    texts = [ns.marker().text.split() for _ in range(40)]
    for one in texts:
        for other in texts:
            if one is not other:
                assert len(set(one) & set(other)) < len(set(one)) * 0.6


def test_same_seed_same_course_and_other_salt_other_ids():
    first, again, other = (Namespace(1, salt, "a/b") for salt in ("x", "x", "y"))
    assert first.marker() == again.marker()
    assert first.user() == again.user()
    assert first.user() != other.user()


def test_show_tells_look_alikes_apart_and_cuts_what_is_long():
    assert show("caf\u00e9") != show("cafe\u0301")
    assert show("u ") == '"u "'
    assert show("x" * 999 + "a") != show("x" * 999 + "b")
    assert "1000 characters" in show("x" * 1000)
