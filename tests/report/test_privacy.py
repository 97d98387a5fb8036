"""No key, and no payload that is not ours, in anything that a run writes or prints."""

import json

import pytest

from tests.servers import in_thread

KEY = "k-9f31aA77-Zebra-canary"
SECRETS = (
    "Melanie Okonkwo-Bright told the doctor about her pregnancy in Halifax",
    "Wire 48,000 to Caroline before Thursday, says brother Ignatius",
    "吴秀英的病历在第三个抽屉里",
)
WORDS = ("Melanie", "Okonkwo", "pregnancy", "Halifax", "Caroline", "Ignatius", "吴秀英", "病历")
FORMATS = ("html", "json", "junit", "markdown", "sarif", "ctrf")


async def leaky(scope, receive, send):
    """Keeps nothing apart, echoes the key wherever it can, and answers with others' texts."""
    if scope["type"] != "http":
        return
    body = b""
    while True:
        message = await receive()
        body += message.get("body", b"")
        if not message.get("more_body"):
            break
    headers = {k.decode("latin-1"): v.decode("latin-1") for k, v in scope["headers"]}
    key = headers.get("authorization", "")
    extra = [(b"x-seen", key.encode("latin-1")), (b"set-cookie", b"user=Melanie Okonkwo")]
    status, reply = 200, {"status": f"hello {SECRETS[0]}"}
    try:
        request = json.loads(body) if body else {}
        if scope["path"] == "/add":
            ids = {name: request[name] for name in ("request_id", "user_id", "session_id")}
            reply = {"success": True, **ids, "merged": SECRETS[0], "auth": key}
        elif scope["path"] == "/search":
            texts = [*SECRETS, f"{key} {request['query']}", SECRETS[1] + " " + request["query"]]
            reply = {"data": [{"id": f"Melanie-{n}", "content": t} for n, t in enumerate(texts)]}
    except (LookupError, TypeError, ValueError):
        status = 500
        reply = f"<html><h1>Error</h1><pre>{key} {headers} {SECRETS[0]} {SECRETS[2]}</pre></html>"
    text = reply if isinstance(reply, str) else json.dumps(reply, ensure_ascii=False)
    head = [(b"content-type", b"text/html" if status == 500 else b"application/json"), *extra]
    await send({"type": "http.response.start", "status": status, "headers": head})
    await send({"type": "http.response.body", "body": text.encode()})


@pytest.fixture(scope="module")
def url():
    with in_thread(leaky, patient=False) as url:
        yield url


def everything(aml, url, directory, families, *more):
    files = [word for name in FORMATS for word in (f"--{name}", f"out/report.{name}")]
    only = [word for family in families for word in ("--only", family)]
    done = aml(
        "check", "--url", url, "--auth", "bearer", "--key-env", "MY_KEY",
        *only, *files, *more, MY_KEY=KEY,
    )  # fmt: skip
    assert done.returncode == 1, done.stderr
    written = {path: path.read_text() for path in directory.rglob("*") if path.is_file()}
    assert {path.suffix[1:] for path in written} >= {*FORMATS, "jsonl"}
    printed = aml("report").stdout
    return {**written, "stdout": done.stdout, "stderr": done.stderr, "report": printed}


def as_read(where, text):
    """A document of JSON as its readers see it: without escapes."""
    if str(where).endswith((".json", ".sarif", ".ctrf")):
        return json.dumps(json.loads(text), ensure_ascii=False)
    return text


def test_neither_key_nor_the_texts_of_others_are_in_anything(aml, url, tmp_path):
    families = ("isolation/case-twins", "evidence", "auth", "errors", "structure", "echo")
    for where, text in everything(aml, url, tmp_path, families).items():
        for secret in ("Zebra", "9f31aA77", *WORDS):
            assert secret not in as_read(where, text), (where, secret)
            assert json.dumps(secret)[1:-1] not in text, (where, secret)


def test_show_replies_shows_the_texts_but_never_the_key(aml, url, tmp_path):
    texts = everything(aml, url, tmp_path, ["auth", "structure"], "--show-replies")
    for where, text in texts.items():
        assert "Zebra" not in text, where
    assert "Okonkwo" in texts[tmp_path / "out/report.html"]
    assert json.loads(texts[tmp_path / "out/report.json"])["settings"]["show_replies"] is True
