"""The rules that stand in for a model drive the same loop."""

import random

from tests.adapters.memgpt.peek import notes, rows, summary
from tests.adapters.talk import DAY, FILLER, add, contents, search


def test_facts_about_people_go_to_core_memory(memory, tmp_path):
    add(
        memory,
        "u",
        "r1",
        "Kim: My name is Kim. I work as a nurse!",
        "我住在成都。今天下雨",
        "Bo: Ok.",
    )
    assert notes(tmp_path, "core") == ["Kim: My name is Kim.", "I work as a nurse!", "我住在成都。"]


def test_a_fact_that_changes_replaces_the_last_one_of_the_same_speaker(memory, tmp_path):
    add(memory, "u", "r1", "Kim: I live in Berlin.", "Bo: I live in Rome.", start=DAY)
    add(memory, "u", "r2", "Kim: I moved to Paris.", start=2 * DAY)
    assert notes(tmp_path, "core") == ["Kim: I moved to Paris.", "Bo: I live in Rome."]
    assert len(search(memory, "u", "Where does Kim live?")) == 3  # what was said stays


def test_dates_numbers_and_names_go_to_archival_storage(memory, tmp_path):
    add(memory, "u", "r1", "We met Anna at noon. It was nice. The train left at 14:35 sharp.")
    assert notes(tmp_path, "archival") == ["We met Anna at noon.", "The train left at 14:35 sharp."]


def test_full_core_memory_hands_its_oldest_lines_to_archival_storage(small, tmp_path):
    facts = [f"I love the {word} of the old garden at dusk." for word in ("smell", "gate", "wall")]
    facts += ["I hate the noise of the new road beyond it.", "I enjoy tea under the tall trees."]
    for number, fact in enumerate(facts):
        add(small, "u", f"r{number}", fact, start=DAY)
    assert notes(tmp_path, "archival") == facts[:1]
    assert notes(tmp_path, "core") == facts[1:]
    assert sorted(contents(search(small, "u", "garden"))) == sorted(facts)


def test_pressure_archives_and_eviction_summarises(small, tmp_path):
    for number in range(24):
        add(small, "u", f"r{number}", *(f"{text} Day {number}." for text in FILLER * 3))
    assert "The kettle whistled through the whole song" in summary(tmp_path)
    assert rows(tmp_path, "SELECT evicted > 200 FROM user") == [(1,)]
    archived = notes(tmp_path, "archival")
    assert "The kettle whistled through the whole song." in archived
    found = search(small, "u", "kettle Day 0", top_k=1_000)
    assert len(found) == len({each.id for each in found}) == 24 * 18
    assert {each.id[:2] for each in found} == {"m-"}


def test_what_points_back_is_looked_up(memory, monkeypatch):
    looked = []
    ranked = memory._ranked
    monkeypatch.setattr(memory, "_ranked", lambda *given: looked.append(1) or ranked(*given))
    add(memory, "u", "r1", *FILLER)
    assert not looked
    add(memory, "u", "r2", "Do you remember the kettle?")
    assert len(looked) == 2


def test_the_same_messages_make_the_same_memory(memory, tmp_path):
    texts = [f"{text} I love {number}." for number in range(4) for text in FILLER]
    random.Random(1).shuffle(texts)
    for user in "uv":
        for number, text in enumerate(texts):
            add(memory, user, f"r{number}", text, start=number * DAY)
    kept = rows(
        tmp_path, "SELECT user, kind, label, place, source, text FROM note ORDER BY 1, 4, 5"
    )
    half = len(kept) // 2
    assert [row[1:] for row in kept[:half]] == [row[1:] for row in kept[half:]]
    assert kept
