import subprocess

from aml_contract.checking.result import Recorder
from aml_contract.endpoint.auth import Auth, Scheme
from aml_contract.endpoint.curl import curl
from aml_contract.exchange import Exchange

AUTH = Auth(Scheme.BEARER, "sk-0123456789")


def exchange(body=b"", headers=(), **more):
    return Exchange(
        **{
            "operation": "add",
            "method": "POST",
            "url": "http://h/add?x=1&y='2'",
            "headers": AUTH.shown_headers(dict(headers)),
            "body": body,
            "status": 200,
            "reply_headers": {},
            "reply": b"",
            "seconds": 0.1,
            "started": 0.0,
            **more,
        }
    )


def words_of(command):
    """What a shell makes of the command, the key's variable being set."""
    script = "curl() { printf '%s\\0' \"$@\"; }; AML_KEY='the key'; " + command
    done = subprocess.run(["/bin/sh", "-c", script], capture_output=True, check=True)
    return done.stdout.split(b"\0")[:-1]


def test_a_shell_reads_back_what_was_sent():
    body = '{"content": "it\'s $HOME `x` \\\\ \\u0000 \u4e2d\u6587 \U0001f600 \\n"}'.encode()
    words = words_of(curl(exchange(body, {"Content-Type": "application/json", **AUTH.headers})))
    assert words[words.index(b"--data-binary") + 1] == body
    assert b"http://h/add?x=1&y='2'" in words
    assert b"authorization: Bearer the key" in words


def test_curl_adds_no_content_type_of_its_own():
    for headers, added in (({}, True), ({"Content-Type": "application/json"}, False)):
        assert (b"content-type:" in words_of(curl(exchange(b"{}", headers)))) is added


def test_bytes_that_are_no_text_still_arrive():
    body = b"\xff\xfe\x00{"
    command = curl(exchange(body))
    script = "curl() { cat; }; " + command
    done = subprocess.run(["/bin/sh", "-c", script], capture_output=True, check=True)
    assert done.stdout == body


def test_a_large_body_goes_to_a_file(tmp_path):
    body = b'{"content": "' + b"x" * 100_000 + b'"}'
    record = Recorder(AUTH, tmp_path).record(exchange(body))
    (written,) = tmp_path.iterdir()
    assert written.read_bytes() == body
    assert str(written) in record.curl
    assert len(record.model_dump_json()) < 10_000


def test_no_spelling_of_the_key_is_kept():
    auth = Auth(Scheme.BEARER, 'sk/"0123ä456789')
    recorder = Recorder(auth)
    for text in ('key sk/"0123ä456789!', r"sk/\"0123\u00e4456789", "sk%2F%220123%C3%A4456789"):
        assert "456789" not in recorder.text(text)
    for value in (auth.key, auth.key[:-1], auth.key[3:], auth.key.upper()):
        for header in ("Authorization", "X-Api-Key"):
            shown = auth.shown_headers({header: f"Token {value}"})
            assert "456" not in str(shown), shown
    assert auth.shown_headers({"Authorization": "Bearer wrong"}) == {
        "authorization": "Bearer wrong"
    }


def test_methods():
    assert " -X " not in curl(exchange(b"{}"))
    assert " -X POST " in curl(exchange())
    assert " -X " not in curl(exchange(method="GET"))
    assert " -I " in curl(exchange(method="HEAD"))
