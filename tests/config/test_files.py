"""What a file may hold, and what is said of what it may not."""

import pytest

from aml_contract.config import ConfigError, resolve

FIRST = "[run]\nseed = 1\n"


@pytest.fixture
def said(tmp_path, monkeypatch):
    """What is said of a file."""
    monkeypatch.chdir(tmp_path)

    def of(text, name="aml.toml"):
        (tmp_path / name).write_text(text)
        with pytest.raises(ConfigError) as caught:
            resolve({}, environ={})
        return str(caught.value)

    return of


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[endpoint]\nurll = 'x'", "aml.toml:4: there is no setting urll in [endpoint]; did"),
        ("[endpoint]\nadd-url = 'x'", "in [endpoint]; did you mean add_url?"),
        ("[endpont]\nurl = 'x'", "aml.toml:3: there is no [endpont]; did you mean [endpoint]?"),
        ("[limits]\nurl = 'x'", "aml.toml:4: url belongs in [endpoint], not in [limits]"),
        ("[limits]\nfrob = 1", "there is no setting frob in [limits]; there are concurrency"),
        ("[limits]\nconcurrency = '4'", "aml.toml:4: concurrency in [limits] is a whole number"),
        ("[limits]\nconcurrency = true", "is a whole number, not true"),
        ("[limits]\nconcurrency = 1.5", "is a whole number, not 1.5"),
        ("[limits]\nconcurrency = 0", "must be at least 1, not 0"),
        ("[limits]\ntimeout = 2026-01-01", "is a number, not a date or a time"),
        ("[limits]\ntimeout = nan", "is a finite number"),
        ("[report]\nstrict = 'yes'", "is true or false, not 'yes'"),
        ("[report]\nstrict = [1]", "is true or false, not a list"),
        ("[capabilities]\nwithout = 'images'", "is a list of texts, not 'images'"),
        ("[capabilities]\nwithout = ['image']", "is one of verbatim, images, not"),
        ("[capabilities]\ntrack = 'audio'", "is one of textual, coding, multimodal, not 'audio'"),
        ("[endpoint]\nurl = ''", "url in [endpoint] is empty"),
        ("[endpoint]\nurl", "aml.toml is no TOML: "),
    ],
)  # fmt: skip
def test_a_mistake_is_one_message_with_file_line_and_remedy(said, text, words):
    message = said(f"{FIRST}{text}\n")
    assert words in message
    assert "\n" not in message


def test_a_setting_without_a_section_is_told_its_own(said):
    assert said("url = 'x'\n") == "aml.toml:1: url belongs in the section [endpoint]"


def test_the_sections_of_a_pyproject_are_named_in_full(said):
    message = said("[tool.aml.endpont]\nurl = 'x'\n", "pyproject.toml")
    assert message.startswith(
        "pyproject.toml:1: there is no [tool.aml.endpont]; did you mean [tool.aml.endpoint]?"
    )
    message = said("[tool.other]\nurl = 1\n\n[tool.aml.endpoint]\nurl = 1\n", "pyproject.toml")
    assert message == "pyproject.toml:5: url in [tool.aml.endpoint] is a text, not 1"


@pytest.mark.parametrize("name", ["key", "api_key", "API-KEY", "token", "auth_token", "password"])
@pytest.mark.parametrize("section", ["", "[endpoint]\n"])
def test_a_key_in_a_file_is_refused_and_not_repeated(said, section, name):
    message = said(f'{section}{name} = "sk-canary-0451"\n')
    assert f"{name} is refused" in message
    assert 'key_env = "MY_KEY"' in message
    assert "0451" not in message


def test_a_key_in_place_of_the_name_of_its_variable_is_not_repeated(said):
    message = said('[endpoint]\nkey_env = "sk-canary-0451"\n')
    assert "is the name of an environment variable" in message
    assert "0451" not in message


def test_a_byte_order_mark_and_windows_lines_are_no_mistake(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "aml.toml").write_bytes(b"\xef\xbb\xbf[run]\r\nseed = 4\r\n")
    assert resolve({}, environ={}).origin("seed") == "aml.toml:2"


def test_a_file_that_is_no_text_is_said_so(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "aml.toml").write_bytes(b"\xff\xfe[\x00r\x00")
    with pytest.raises(ConfigError, match=r"aml\.toml is no UTF-8 text"):
        resolve({}, environ={})
