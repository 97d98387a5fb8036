"""Where a value comes from, and which source wins."""

import subprocess
import sys
from pathlib import Path

import pytest

from aml_contract.config import SETTINGS, ConfigError, resolve, settings_of
from aml_contract.config.target import target_from
from aml_contract.endpoint.target import TargetError


@pytest.fixture
def here(tmp_path, monkeypatch):
    """An empty project, its subdirectory the working directory."""
    below = tmp_path / "below"
    below.mkdir()
    monkeypatch.chdir(below)
    return tmp_path


def write(directory, text, name="aml.toml"):
    (directory / name).write_text(text)


def test_the_strongest_source_wins_and_is_named(here):
    write(here, "[tool.aml.limits]\nconcurrency = 1\ntimeout = 1\ntime = 1\n", "pyproject.toml")
    write(here, "# first\n[limits]\nconcurrency = 2\ntimeout = 2\n")
    sources = [
        ({}, {}, 2, "../aml.toml:3"),
        ({}, {"AML_CONCURRENCY": "3"}, 3, "$AML_CONCURRENCY"),
        ({"concurrency": "4"}, {"AML_CONCURRENCY": "3"}, 4, "--concurrency"),
    ]
    for flags, environ, value, origin in sources:
        found = resolve(flags, environ=environ)
        assert (found["concurrency"], found.origin("concurrency")) == (value, origin)
    found = resolve({}, environ={})
    assert (found["timeout"], found.origin("timeout")) == (2.0, "../aml.toml:4")
    assert (found["time"], found.origin("time")) == (1.0, "../pyproject.toml:4")
    assert (found["fuzz_budget"], found.origin("fuzz_budget")) == (20.0, "default")
    assert found.files == ("../aml.toml", "../pyproject.toml")
    assert set(found.origins) == {"concurrency", "timeout", "time"}


def test_without_any_source_every_value_is_the_default(here):
    found = resolve({setting.name: None for setting in SETTINGS}, environ={})
    assert dict(found) == {setting.name: setting.default for setting in SETTINGS}
    assert found.given == []


def test_the_nearest_file_holds_and_config_names_another(here):
    write(here, "[run]\nseed = 1\n")
    write(here / "below", "[run]\nseed = 2\n")
    write(here, "[run]\nseed = 3\n", "other.toml")
    write(here, "[tool.aml.run]\nseed = 4\n", "pyproject.toml")
    assert resolve({}, environ={})["seed"] == 2
    assert resolve({}, environ={}, config=here / "other.toml")["seed"] == 3
    assert resolve({}, environ={}, config=here / "pyproject.toml")["seed"] == 4
    assert resolve({}, environ={}, look=False)["seed"] is None
    with pytest.raises(ConfigError, match="there is no such file"):
        resolve({}, environ={}, config=here / "none.toml")


def test_a_pyproject_that_does_not_speak_of_us_is_left_alone(here):
    write(here, "this is no TOML", "pyproject.toml")
    assert resolve({}, environ={}).files == ()


def test_paths_in_a_file_are_relative_to_it(here):
    write(here, '[report]\njson = "out/report.json"\n')
    assert resolve({}, environ={})["json"] == here / "out/report.json"
    assert resolve({"json": "r.json"}, environ={})["json"] == Path("r.json")


@pytest.mark.parametrize(
    ("name", "words", "value"),
    [
        ("url", "http://h", "http://h"),
        ("data", "d", Path("d")),
        ("concurrency", " 8 ", 8),
        ("timeout", "1.5", 1.5),
        ("strict", "yes", True),
        ("strict", "0", False),
        ("only", "echo, isolation/case-twins", ("echo", "isolation/case-twins")),
    ],
)
def test_words_of_flags_and_variables_become_values(here, name, words, value):
    (setting,) = settings_of(name)
    assert resolve({name: words}, environ={})[name] == value
    assert resolve({}, environ={setting.env: words})[name] == value


def test_every_default_can_be_written_as_words_and_read_again(here):
    for setting in SETTINGS:
        if setting.default not in (None, ()):
            words = setting.shown(setting.default)
            assert resolve({}, environ={setting.env: words})[setting.name] == setting.default


def test_a_switch_of_the_command_line_overrides_a_file_both_ways(here):
    write(here, "[report]\nstrict = true\n")
    assert resolve({"strict": None}, environ={})["strict"] is True
    assert resolve({"strict": False}, environ={})["strict"] is False


@pytest.mark.parametrize(
    ("flags", "environ", "words"),
    [
        ({"concurrency": "many"}, {}, "--concurrency is a whole number, not 'many'"),
        ({}, {"AML_TIMEOUT": "1m"}, "$AML_TIMEOUT is a number, not '1m'"),
        ({}, {"AML_TIMEOUT": "nan"}, "$AML_TIMEOUT is a finite number"),
        ({}, {"AML_CONCURRENCY": "0"}, "$AML_CONCURRENCY must be at least 1, not 0"),
        ({}, {"AML_STRICT": "maybe"}, "$AML_STRICT is true or false, not 'maybe'"),
        ({"auth": "basic"}, {}, "--auth is one of bearer, token, x-api-key, none, not 'basic'"),
        ({"without": ["colour"]}, {}, "--without is one of verbatim, images"),
    ],
)
def test_a_wrong_value_names_its_source(here, flags, environ, words):
    with pytest.raises(ConfigError) as caught:
        resolve(flags, environ=environ)
    assert words in str(caught.value)


@pytest.mark.parametrize(
    ("stronger", "weaker", "kept"),
    [
        ({"url": "http://h"}, 'cmd = "x {port}"\ndata = "d"', {"url"}),
        ({"system": "m:C"}, 'add_url = "http://a"\nsearch_url = "http://s"', {"system"}),
        ({"add_url": "http://a", "search_url": "http://s"}, 'cmd = "x"', {"add_url", "search_url"}),
        ({"add_url": "/a"}, 'cmd = "x {port}"', {"add_url", "cmd"}),
        ({"add_url": "/a", "search_url": "/s"}, 'cmd = "x"', {"add_url", "search_url", "cmd"}),
        ({"url": "http://h"}, 'auth = "bearer"\nkey_env = "K"', {"url", "auth", "key_env"}),
    ],
)
def test_naming_another_endpoint_replaces_all_that_names_one(here, stronger, weaker, kept):
    write(here, f"[endpoint]\n{weaker}\n")
    assert set(resolve(stronger, environ={}).origins) == kept
    environ = {f"AML_{name.upper()}": value for name, value in stronger.items()}
    assert set(resolve({}, environ=environ).origins) == kept


def test_hooks_of_a_file_do_not_break_the_store_of_another_endpoint(here):
    hooks = '[hooks]\nfault_cmd = "docker stop db"\nheal_cmd = "docker start db"\n'
    write(here, f'[endpoint]\nurl = "http://theirs"\n{hooks}')
    assert resolve({}, environ={})["fault_cmd"] == "docker stop db"
    assert resolve({"url": "http://mine"}, environ={})["fault_cmd"] is None
    # In one source both belong together.
    assert resolve({"url": "http://u", "fault_cmd": "f"}, environ={})["fault_cmd"] == "f"


def test_what_a_run_recorded_gives_way_to_flags_alone(here):
    write(here, "[limits]\nconcurrency = 2\ntimeout = 2\n")
    found = resolve({"timeout": "3"}, environ={})
    assert not found.flags_name_endpoint
    recorded = found.recorded({"url": "http://h", "concurrency": "5", "timeout": "5"}, "r.json")
    assert (recorded["url"], recorded.origin("url")) == ("http://h", "r.json")
    assert (recorded["concurrency"], recorded["timeout"]) == (5, 3.0)
    assert resolve({"url": "http://h"}, environ={}).flags_name_endpoint


def test_a_target_takes_its_key_from_the_variable(here, monkeypatch):
    monkeypatch.setenv("MY_KEY", "k-123")
    write(here, '[endpoint]\nurl = "http://h"\nauth = "token"\nkey_env = "MY_KEY"\n')
    target = target_from(resolve({}, environ={}))
    assert (target.url, target.auth, target.key) == ("http://h", "token", "k-123")
    assert target_from(resolve({"auth": "none"}, environ={})).key is None


def test_a_variable_that_is_set_to_nothing_is_not_set_but_mentioned(here):
    found = resolve({}, environ={"AML_URL": "", "AML_SEED": " "})
    assert found["url"] is None
    with pytest.raises(TargetError, match=r"\$AML_URL and \$AML_SEED are set, but empty"):
        target_from(found)


def test_a_variable_misspelt_by_a_letter_is_pointed_out(here):
    environ = {"AML_CONCURENCY": "3", "AML_CHROMA_URL": "http://chroma", "AML_TIMEOUT": "5"}
    (remark,) = resolve({}, environ=environ).remarks
    assert remark == (
        "$AML_CONCURENCY is no setting and changes nothing; did you mean $AML_CONCURRENCY?"
    )


def test_the_table_is_sound():
    names = [setting.name for setting in SETTINGS]
    assert len(names) == len(set(names))
    for setting in SETTINGS:
        assert setting.help.endswith(".")
        assert setting.is_switch or setting.shown_metavar
        assert setting.default is None or setting.shown(setting.default) is not None


@pytest.mark.parametrize(
    ("module", "heavy"),
    [
        ("aml_contract.config", {"pydantic", "httpx", "typer", "rich", "pytest", "tomllib"}),
        ("aml_cli.main", {"pydantic", "httpx", "hypothesis", "schemathesis", "numpy", "fastapi"}),
    ],
)
def test_settings_and_commands_are_light_to_import(module, heavy):
    code = f"import sys, {module}; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert not heavy & {name.split(".")[0] for name in done.stdout.split()}


def test_where_no_file_names_an_endpoint_those_that_were_read_are_named(here):
    write(here, '[endpoint]\nurl = "http://h"\n')
    write(here / "below", "[run]\nseed = 2\n")
    words = r"; aml\.toml names none, and files further up are not read"
    with pytest.raises(TargetError, match=words):
        target_from(resolve({}, environ={}))
