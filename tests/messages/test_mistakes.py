"""Mistakes of the command line, of files and of the environment."""

import pytest

AT = ("check", "--url", "http://127.0.0.1:1")
FILE = "aml.toml"


@pytest.mark.parametrize(
    ("arguments", "environment"),
    [
        pytest.param(["check"], {}, id="no-endpoint"),
        pytest.param(["check"], {"AML_URL": ""}, id="no-endpoint-but-empty-variable"),
        pytest.param([*AT, "--system", "m:C"], {}, id="two-endpoints"),
        pytest.param(["check", "--url", "127.0.0.1:8080"], {}, id="url-without-scheme"),
        pytest.param(["check", "--url", "ftp://h"], {}, id="url-of-another-kind"),
        pytest.param(["check", "--url", "http://me:s3cret@h"], {}, id="url-with-password"),
        pytest.param(["check", "--cmd", "my-server --port 8080"], {}, id="cmd-without-port"),
        pytest.param([*AT, "--auth", "bearer"], {}, id="auth-without-key-env"),
        pytest.param([*AT, "--auth", "bearer", "--key-env", "NO_SUCH_KEY"], {}, id="key-not-set"),
        pytest.param(
            [*AT, "--auth", "bearer", "--key-env", "MY_KEY"], {"MY_KEY": ""}, id="key-empty"
        ),
        pytest.param(
            [*AT, "--auth", "token", "--key-env", "MY_KEY"], {"MY_KEY": "'abc'"}, id="key-in-quotes"
        ),
        pytest.param(
            [*AT, "--auth", "token", "--key-env", "MY_KEY"],
            {"MY_KEY": "a\r"},
            id="key-with-line-end",
        ),
        pytest.param(
            [*AT, "--auth", "token", "--key-env", "sk-s3cret"], {}, id="key-itself-as-name"
        ),
        pytest.param([*AT, "--key-env", "MY_KEY"], {"MY_KEY": "abc"}, id="key-without-scheme"),
        pytest.param([*AT, "--auth", "basic"], {}, id="unknown-scheme"),
        pytest.param([*AT, "--only", "isolaton/case-twins"], {}, id="unknown-rule"),
        pytest.param(["check", "--config", "none.toml"], {}, id="unknown-config"),
        pytest.param(AT, {"AML_CONCURRENCY": "many"}, id="variable-of-wrong-type"),
        pytest.param(
            ["check", "--url", "https://h"], {"SSL_CERT_FILE": "none.pem"}, id="no-certificates"
        ),
        pytest.param(["reproduce", "none.json"], {}, id="no-report"),
        pytest.param(["init"], {}, id="init-without-terminal"),
    ],
)
def test_a_mistake_says_what_to_write_instead(said, snapshot, arguments, environment):
    found = said(*arguments, **environment)
    assert found.code == 2
    assert found.err.startswith("aml: ")
    assert "s3cret" not in found.err
    assert str(found) == snapshot


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("[endpoint]\nurll = 'http://h'\n", id="file-unknown-key"),
        pytest.param("[endpoints]\nurl = 'http://h'\n", id="file-unknown-section"),
        pytest.param("url = 'http://h'\n", id="file-no-section"),
        pytest.param("[endpoint]\ntimeout = 3\n", id="file-wrong-section"),
        pytest.param("[limits]\nconcurrency = '16'\n", id="file-wrong-type"),
        pytest.param("[endpoint]\nurl = http://h\n", id="file-no-toml"),
        pytest.param("[endpoint]\nkey = 's3cret'\n", id="file-with-key"),
    ],
)
def test_a_mistake_in_a_file_names_file_and_line(said, snapshot, tmp_path, text):
    (tmp_path / FILE).write_text(text)
    found = said("check")
    assert found.code == 2
    assert found.err.startswith("aml: aml.toml")
    assert "s3cret" not in found.err
    assert str(found) == snapshot
