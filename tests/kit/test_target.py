import json
from urllib.parse import quote

import pytest

from aml_contract.endpoint.auth import Auth, Scheme
from aml_contract.endpoint.target import Target, TargetError


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({}, "no endpoint was named"),
        ({"url": "http://h", "cmd": "x {port}"}, "more than one"),
        ({"url": "http://h", "add_url": "http://h/a", "search_url": "http://h/s"}, "more than"),
        ({"add_url": "http://h/a"}, "belong together"),
        ({"url": "http://me:secret@h"}, "user:password@"),
        ({"url": "ftp://h"}, "no http://"),
        ({"url": "h:8080"}, "did you mean http://h:8080?"),
        ({"url": "127.0.0.1:8080/v1"}, "did you mean http://127.0.0.1:8080/v1?"),
        ({"url": "http:/h/v1"}, "did you mean http://h/v1?"),
        ({"url": "https//h"}, "did you mean https://h?"),
        ({"url": "http://h:port"}, "no URL"),
        ({"url": "http://h/#x"}, "#fragment"),
        ({"url": "http://h/?tenant=1"}, "--add-url"),
        ({"cmd": "serve"}, "--cmd 'serve --port {port}'"),
        ({"cmd": "serve -p 80 -v"}, "--cmd 'serve -p {port} -v'"),
        ({"app": "module"}, "pkg.mod:name"),
        ({"url": "http://h", "auth": "basic"}, "--auth is one of"),
        ({"url": "http://h", "auth": "bearer"}, "needs a key"),
        ({"url": "http://h", "auth": "bearer", "key_env": "NO_SUCH"}, "$NO_SUCH is not set"),
        ({"url": "http://h", "auth": "bearer", "key_env": "sk-1 2"}, "the name of an environment"),
        ({"url": "http://h", "auth": "bearer", "key_env": "skabcsecret"}, "a name, not the key"),
        ({"url": "http://h", "key": "k"}, "without a scheme"),
        ({"url": "http://h", "key_env": "K"}, "without a scheme"),
        ({"url": "http://h", "auth": "token", "key": "'k'"}, "quotes around the key"),
        ({"url": "http://h", "auth": "token", "key": "k\n"}, "no header can carry"),
        ({"url": "http://h/k3y", "auth": "token", "key": "k3y"}, "holds the key"),
        ({"url": "http://h/?k=secret", "auth": "token", "key": "secret"}, "holds the key"),
        ({"url": "http://h/?k=%73ecret/", "auth": "token", "key": "secret/"}, "holds the key"),
        ({"url": "http://h", "auth": "bearer", "key": "Bearer k"}, "begins with 'Bearer'"),
        ({"url": "http://h", "concurrency": 0}, "at least 1"),
        ({"url": "http://h", "search_concurrency": 0}, "at least 1"),
        ({"cmd": "x {port}", "restart_cmd": "y"}, "remote"),
        ({"url": "http://h", "fault_cmd": "y"}, "belong together"),
    ],
)
def test_nonsense_is_refused_in_one_sentence(given, words):
    with pytest.raises(TargetError) as caught:
        Target(**given)
    assert words in str(caught.value)
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize(
    ("given", "urls"),
    [
        ({"url": "http://h:1/"}, ("http://h:1/add", "http://h:1/search", "http://h:1/health")),
        (
            {"url": "http://[::1]:1"},
            ("http://[::1]:1/add", "http://[::1]:1/search", "http://[::1]:1/health"),
        ),
        (
            {"add_url": "http://h/a?t=1", "search_url": "http://h/s?t=1"},
            ("http://h/a?t=1", "http://h/s?t=1", "http://h/health"),
        ),
        (
            {"url": "https://h/v1"},
            ("https://h/v1/add", "https://h/v1/search", "https://h/v1/health"),
        ),
        (
            {"add_url": "http://a/v1/mem", "search_url": "http://s/find"},
            ("http://a/v1/mem", "http://s/find", "http://a/health"),
        ),
        (
            {"add_url": "http://a/x", "search_url": "http://a/y", "health_url": "http://b/up"},
            ("http://a/x", "http://a/y", "http://b/up"),
        ),
        (
            {"cmd": "x {port}", "add_url": "/v1/add"},
            ("http://127.0.0.1:7/v1/add", "http://127.0.0.1:7/search", "http://127.0.0.1:7/health"),
        ),
    ],
)
def test_where_the_three_urls_come_from(given, urls):
    made = Target(**given).urls(7)
    assert (made.add, made.search, made.health) == urls


def test_a_data_directory_that_cannot_be_made_is_refused(tmp_path):
    (tmp_path / "file").write_text("x")
    for bad in (tmp_path / "file", tmp_path / "file" / "below"):
        with pytest.raises(TargetError, match="is no directory that can be written"):
            Target(cmd="x {port}", data_dir=bad)
    assert Target(cmd="x {port}", data_dir=tmp_path / "new" / "below").managed


@pytest.mark.parametrize("sent", [str, str.swapcase, lambda key: key[1:], lambda key: key[:-1]])
def test_a_key_and_what_rules_make_of_it_are_kept_out_of_reports(sent):
    key = 'q"u/ote-k\u00e9y-0451'
    auth = Auth(Scheme.BEARER, key)
    misread = json.dumps(sent(key).encode().decode("latin-1"))
    for text in (sent(key), json.dumps(sent(key)), quote(sent(key), safe=""), misread):
        shown = auth.redact(f"you sent {text}!")
        assert "0451" not in shown
        assert "ote" not in shown.casefold()


def test_a_short_key_spoils_no_words():
    assert Auth(Scheme.BEARER, "add").redact("Add adds") == "Add $AML_KEYs"


def test_the_key_is_in_no_repr_and_in_no_flag():
    target = Target(url="http://h", auth="bearer", key="topsecret", key_env="VAR")
    assert "topsecret" not in repr(target)
    assert "topsecret" not in repr(target.credentials)
    assert target.flags == ["--url", "http://h", "--auth", "bearer", "--key-env", "VAR"]
