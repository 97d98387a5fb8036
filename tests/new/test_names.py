"""Which names a project may have, and what is said about others."""

import re

import pytest
from typer.testing import CliRunner

from aml_cli.main import app
from aml_cli.scaffold.names import NameRefusedError, names_for


@pytest.mark.parametrize(
    ("given", "project", "system"),
    [
        ("my-memory", "my-memory", "my_memory:MyMemory"),
        ("My_Memory.v2", "my-memory-v2", "my_memory_v2:MyMemoryV2"),
        ("rag", "rag", "rag:Rag"),
        ("m", "m", "m:M"),
        ("memory", "memory", "memory:MyMemory"),
        ("memory-system", "memory-system", "memory_system:MyMemorySystem"),
    ],
)
def test_names_follow_from_the_one_that_was_given(given, project, system):
    names = names_for(given)
    assert (names.project, names.system) == (project, system)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("记忆", "--into 记忆"),
        ("mémoire", "letters A to Z"),
        ("work/my-memory", "aml new my-memory --into work/my-memory"),
        ("class", "class-memory"),
        ("json", "json-memory"),
        ("tests", "tests-memory"),
        ("aml-sdk", "hidden"),
        ("2nd", "first"),
        ("my memory", "no name for pip"),
        ("memory-", "no sign"),
        ("", "no name for pip"),
    ],
)
def test_a_name_that_cannot_be_used_is_explained(given, said):
    with pytest.raises(NameRefusedError, match=re.escape(said)):
        names_for(given)


def new(*words):
    return CliRunner().invoke(app, ["new", *words])


def test_a_directory_that_holds_something_is_left_alone(tmp_path):
    (tmp_path / "mine").write_text("precious")
    ran = new("my-memory", "--into", str(tmp_path))
    assert ran.exit_code == 2
    assert "is not empty; nothing was written" in ran.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["mine"]


def test_an_empty_directory_with_any_name_is_filled(tmp_path):
    place = tmp_path / "记忆 1"
    place.mkdir()
    ran = new("my-memory", "--into", str(place))
    assert ran.exit_code == 0, ran.stderr
    assert (place / "my_memory" / "memory.py").exists()


def test_a_file_in_the_way_is_named(tmp_path):
    (tmp_path / "my-memory").write_text("")
    ran = new("my-memory", "--into", str(tmp_path / "my-memory"))
    assert ran.exit_code == 2
    assert f"{tmp_path / 'my-memory'}: File exists" in ran.stderr
