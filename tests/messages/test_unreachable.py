"""Endpoints that cannot be reached, and servers that do not start."""

from datetime import UTC, datetime, timedelta

import pytest

from tests.kit.conftest import command
from tests.servers import in_thread

ONE = ("--only", "structure/add-success")


def close(connection):
    connection.recv(4096)
    connection.close()


def test_no_server(said, snapshot, closed_port):
    assert str(said("check", "--url", f"http://127.0.0.1:{closed_port}", *ONE)) == snapshot


def test_no_such_host(said, snapshot):
    assert str(said("check", "--url", "http://no-such-host.invalid", *ONE)) == snapshot


def test_proxy_variables(said, snapshot):
    url = "http://no-such-host.invalid"
    found = said("check", "--url", url, *ONE, HTTP_PROXY="http://127.0.0.1:9")
    assert str(found) == snapshot


def test_proxies_that_are_passed_by_are_named(said, serve):
    found = said("check", "--url", serve().url, *ONE, https_proxy="http://127.0.0.1:9")
    assert found.code == 0
    assert "Proxy variables are ignored: https_proxy" in found.out


def test_a_server_that_hangs_up(said, snapshot, listener):
    url = f"http://127.0.0.1:{listener(close)}"
    assert str(said("check", "--url", url, *ONE)) == snapshot


def test_a_server_that_speaks_something_else(said, snapshot, listener):
    def mail(connection):
        connection.sendall(b"220 mail.example ESMTP\r\n\r\n")
        close(connection)

    url = f"http://127.0.0.1:{listener(mail)}"
    assert str(said("check", "--url", url, *ONE)) == snapshot


@pytest.mark.slow  # half a minute, which is how long the kit waits
def test_a_server_that_never_answers(said, snapshot, listener):
    kept = []
    found = said("check", "--url", f"http://127.0.0.1:{listener(kept.append)}", *ONE)
    assert str(found) == snapshot
    assert "waiting for an answer from" in found.out


def test_a_certificate_that_nobody_trusts(said, snapshot, certified):
    with in_thread(answer, **certified("127.0.0.1")) as url:
        assert str(said("check", "--url", url, *ONE)) == snapshot


def test_a_certificate_for_another_name(said, snapshot, certified):
    with in_thread(answer, **certified("elsewhere.example")) as url:
        found = said("check", "--url", url, *ONE, SSL_CERT_FILE="ca.pem")
    assert str(found) == snapshot


def test_a_certificate_that_has_expired(said, snapshot, certified):
    begin = datetime.now(UTC) - timedelta(days=9)
    past = {"not_before": begin, "not_after": begin + timedelta(days=1)}
    with in_thread(answer, **certified("127.0.0.1", **past)) as url:
        found = said("check", "--url", url, *ONE, SSL_CERT_FILE="ca.pem")
    assert str(found) == snapshot


def test_http_to_a_server_that_wants_tls(said, snapshot, certified):
    with in_thread(answer, **certified("127.0.0.1")) as url:
        found = said("check", "--url", url.replace("https:", "http:"), *ONE)
    assert str(found) == snapshot


def test_tls_to_a_server_that_speaks_none(said, snapshot):
    with in_thread(answer) as url:
        found = said("check", "--url", url.replace("http:", "https:"), *ONE)
    assert str(found) == snapshot


async def answer(scope, receive, send):
    """An application that answers 200 and nothing."""
    del scope, receive
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": b""})


@pytest.mark.parametrize(
    "words",
    [
        pytest.param(("--cmd", "no-such-program --port {port}"), id="cmd-unknown-program"),
        pytest.param(("--cmd", "./notes.txt --port {port}"), id="cmd-not-executable"),
        pytest.param(("--cmd", command("closed")), id="cmd-exits-with-reason"),
        pytest.param(("--cmd", "false # {port}"), id="cmd-exits-silently"),
        pytest.param(("--cmd", "true # {port}"), id="cmd-goes-into-background"),
        pytest.param(("--app", "no_such_module:app"), id="app-no-module"),
        pytest.param(("--app", "json:no_such_app"), id="app-no-attribute"),
        pytest.param(("--system", "no_such_module:Memory"), id="system-no-module"),
        pytest.param(("--system", "json:loads"), id="system-no-class"),
    ],
)
def test_a_server_that_does_not_start(said, snapshot, tmp_path, words):
    (tmp_path / "notes.txt").write_text("notes")
    assert str(said("check", *words, *ONE)) == snapshot


def test_a_port_that_is_taken(said, snapshot, serve):
    port = serve().url.rpartition(":")[2]
    program = command().replace("{port}", port)
    found = said("check", "--cmd", f"{program} # {{port}}", *ONE)
    assert str(found) == snapshot
