"""``aml forget`` on each memory of ours: a user goes, and the others stay."""

import pytest

from aml_sdk.errors import DataDirectoryBusy
from aml_servers.finding import find_system, make_system
from aml_servers.forgetting import forget, remember
from tests.adapters.talk import FILLER, add, search

SYSTEMS = ("hybrid", "long-context", "memgpt", "rag")


@pytest.mark.parametrize("name", SYSTEMS)
def test_a_user_goes_and_the_others_stay(tmp_path, name):
    memory = make_system(find_system(name), tmp_path)
    remember(name, tmp_path)
    add(memory, "u", "r", *FILLER)
    add(memory, "v", "r", *FILLER)
    with pytest.raises(DataDirectoryBusy):
        forget("u", tmp_path)
    memory.close()
    forget("u", tmp_path)
    memory = make_system(find_system(name), tmp_path)
    assert search(memory, "u", "kettle") == []
    assert "kettle" in search(memory, "v", "kettle")[0].content
    memory.close()


def test_what_several_memories_served_is_forgotten_in_each(tmp_path):
    for name in ("hybrid", "long-context"):
        memory = make_system(find_system(name), tmp_path)
        for _ in range(2):
            remember(name, tmp_path)
        add(memory, "u", "r", *FILLER)
        memory.close()
    assert (tmp_path / "systems.txt").read_text() == "hybrid\nlong-context\n"
    forget("u", tmp_path)
    for name in ("hybrid", "long-context"):
        memory = make_system(find_system(name), tmp_path)
        assert search(memory, "u", "kettle") == []
        memory.close()
