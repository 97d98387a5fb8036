"""``aml init``: what it asks, what it writes, and that it stores nothing."""

import json
import os
import pty
import re
import subprocess
import sys
import tomllib

import pytest
from starlette.applications import Starlette
from starlette.responses import HTMLResponse, JSONResponse
from starlette.routing import Route

from aml_contract.certification.declaration import Declaration, declaration_from
from aml_contract.certification.declaration.checks import Circumstances, grounds
from aml_contract.certification.declaration.file import sections
from aml_contract.config import SETTINGS, resolve
from aml_contract.config.written import toml_text
from tests.kit.conftest import command
from tests.servers import in_thread


class Endpoint:
    """A memory that refuses what it must, at given paths, and keeps what it was sent."""

    def __init__(self, add="/add", search="/search", health="/health", key=None):
        self.key = key
        self.seen = []
        self.app = Starlette(
            routes=[
                Route(add, self.answer, methods=["POST"]),
                Route(search, self.answer, methods=["POST"]),
                Route(health, lambda _: JSONResponse({"status": "ok"})),
            ]
        )

    async def answer(self, request):
        body = await request.json()
        self.seen.append((request.url.path, body))
        if self.key and self.key not in request.headers.items():
            return JSONResponse({"detail": {"reason": "no"}}, 401)
        if "query" in body:
            return JSONResponse({"data": []})
        return JSONResponse({"detail": {"reason": "request_id is missing"}}, 422)


@pytest.fixture
def init(tmp_path):
    """Runs ``aml init`` in an empty directory; the finished process."""

    def run(*arguments, **environment):
        return subprocess.run(
            [sys.executable, "-m", "aml_cli.main", "init", *arguments],
            cwd=tmp_path,
            env={**os.environ, **environment},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
            timeout=120,
        )

    return run


def written(directory, name="aml.toml"):
    """What is set in the file, section by section."""
    return {k: v for k, v in tomllib.loads((directory / name).read_text()).items() if v}


def test_a_usual_endpoint_is_one_line(init, tmp_path):
    endpoint = Endpoint()
    with in_thread(endpoint.app) as url:
        done = init("--url", f"{url}/")
    assert done.returncode == 0, done.stderr
    assert written(tmp_path) == {"endpoint": {"url": url}}
    assert f"POST {url}/add {{}} → 422" in done.stdout
    assert "aml check --quick" in done.stdout
    assert "Note" not in done.stdout
    adds = [body for path, body in endpoint.seen if path == "/add"]
    assert adds
    assert not any(adds), "Add is sent nothing that could be stored"


@pytest.mark.parametrize("given", ["", "/v1/memories"])
def test_other_paths_are_found_and_written_whole(init, tmp_path, given):
    endpoint = Endpoint("/v1/memories/add", "/v1/memories/search", "/healthz")
    with in_thread(endpoint.app) as url:
        done = init("--url", url + given)
    assert done.returncode == 0, done.stderr
    expected = {
        "add_url": f"{url}/v1/memories/add",
        "search_url": f"{url}/v1/memories/search",
        "health_url": f"{url}/healthz",
    }
    assert written(tmp_path) == {"endpoint": expected}


@pytest.mark.parametrize(
    ("scheme", "header"),
    [
        ("bearer", ("authorization", "Bearer k-canary-0451")),
        ("token", ("authorization", "Token k-canary-0451")),
        ("x-api-key", ("x-api-key", "k-canary-0451")),
    ],
)
def test_the_scheme_of_the_key_is_tried_out(init, tmp_path, scheme, header):
    endpoint = Endpoint(key=header)
    with in_thread(endpoint.app) as url:
        done = init("--url", url, "--key-env", "CANARY", CANARY="k-canary-0451")
    assert written(tmp_path)["endpoint"] == {"url": url, "auth": scheme, "key_env": "CANARY"}
    assert f"key as {scheme} → 422" in done.stdout
    assert "0451" not in done.stdout + done.stderr + (tmp_path / "aml.toml").read_text()


def test_a_key_that_is_wanted_and_not_given_is_asked_for(init, tmp_path):
    endpoint = Endpoint(key=("authorization", "Bearer k"))
    with in_thread(endpoint.app) as url:
        done = init("--url", url)
    assert done.returncode == 0
    assert "it wants a key" in done.stdout
    assert written(tmp_path)["endpoint"]["key_env"] == "MY_KEY"


def test_a_server_that_says_yes_to_everything_is_not_believed(init, tmp_path):
    async def page(scope, receive, send):
        await HTMLResponse("<html>Welcome</html>")(scope, receive, send)

    with in_thread(page) as url:
        done = init("--url", url)
    assert done.returncode == 0
    assert "asking cannot tell where Add and Search are" in done.stdout
    assert "no health path was found" in done.stdout
    assert written(tmp_path) == {"endpoint": {"url": url}}


def test_nothing_found_is_said(init, tmp_path):
    with in_thread(Endpoint("/store", "/find").app) as url:
        done = init("--url", url)
    assert "Add was found at none of the usual paths" in done.stderr
    assert written(tmp_path) == {"endpoint": {"url": url}}


def test_a_key_that_was_named_stays_named_where_nothing_is_found(init, tmp_path):
    with in_thread(Endpoint("/store", "/find").app) as url:
        done = init("--url", url, "--auth", "token", "--key-env", "CANARY", CANARY="k-0451")
    expected = {"url": url, "auth": "token", "key_env": "CANARY"}
    assert written(tmp_path) == {"endpoint": expected}
    assert "When it names Add and Search" in done.stdout


def test_urls_that_are_given_are_asked_and_no_others(init, tmp_path):
    endpoint = Endpoint("/tenant/in;v=2", "/find.php", "/ops/alive", ("x-api-key", "k-0451"))
    with in_thread(endpoint.app) as url:
        urls = {
            "add_url": f"{url}/tenant/in;v=2",
            "search_url": f"{url}/find.php",
            "health_url": f"{url}/ops/alive",
        }
        flags = [w for n, u in urls.items() for w in (f"--{n.replace('_', '-')}", u)]
        done = init(*flags, "--key-env", "CANARY", CANARY="k-0451")
    assert done.returncode == 0, done.stderr
    key = {"auth": "x-api-key", "key_env": "CANARY"}
    assert written(tmp_path) == {"endpoint": {**urls, **key}}
    assert "Note" not in done.stdout
    asked = {line.split()[1] for line in done.stdout.splitlines() if " → " in line}
    assert len(asked - set(urls.values())) == 1, "one path that is surely not there, and no guesses"


def test_a_health_url_that_is_given_and_not_healthy_is_written_and_remarked(init, tmp_path):
    with in_thread(Endpoint().app) as url:
        done = init("--url", url, "--health-url", f"{url}/helth")
    assert f"health at {url}/helth is answered 404" in done.stdout
    assert written(tmp_path)["endpoint"]["health_url"] == f"{url}/helth"


def test_nothing_is_overwritten_without_force(init, tmp_path):
    (tmp_path / "aml.toml").write_text("mine")
    with in_thread(Endpoint().app) as url:
        refused = init("--url", url)
        assert (refused.returncode, (tmp_path / "aml.toml").read_text()) == (2, "mine")
        assert init("--url", url, "--force").returncode == 0
        assert init("--url", url, "--output", "other.toml").returncode == 0
    assert written(tmp_path) == written(tmp_path, "other.toml")


def test_nothing_is_written_where_nothing_answers(init, tmp_path):
    done = init("--url", "http://127.0.0.1:1")
    assert done.returncode == 4
    assert "connection refused" in done.stderr
    assert "Nothing was written" in done.stderr
    assert not list(tmp_path.iterdir())


def test_a_full_disk_is_said_and_is_no_success(init):
    with in_thread(Endpoint().app) as url:
        done = init("--url", url, "--output", "/dev/full", "--force")
    assert done.returncode == 3
    assert done.stderr == "aml: /dev/full was not written: No space left on device\n"


def test_a_url_that_holds_the_key_is_refused_and_not_repeated(init, tmp_path):
    given = ("--url", "http://127.0.0.1:1/?k=k-0451", "--key-env", "CANARY")
    done = init(*given, CANARY="k-0451")
    assert done.returncode == 2
    assert "a URL holds the key" in done.stderr
    assert "0451" not in done.stdout + done.stderr


def test_without_a_terminal_nobody_is_asked(init):
    done = init()
    assert done.returncode == 2
    assert "--url" in done.stderr


def test_at_a_terminal_a_person_is_asked(tmp_path):
    with in_thread(Endpoint().app) as url:
        ours, theirs = pty.openpty()
        child = subprocess.Popen(
            [sys.executable, "-m", "aml_cli.main", "init"], cwd=tmp_path, stdin=theirs,
            stdout=subprocess.PIPE, text=True,
        )  # fmt: skip
        os.close(theirs)
        os.write(ours, f"{url}\n\n".encode())
        output, _ = child.communicate(timeout=60)
        os.close(ours)
    assert child.returncode == 0
    assert "URL of your endpoint" in output
    assert written(tmp_path) == {"endpoint": {"url": url}}


def test_every_setting_stands_in_the_file_as_a_comment_that_can_be_taken_up(tmp_path):
    text = toml_text({})
    assert tomllib.loads(text) == {section: {} for section in tomllib.loads(text)}
    examples = [line for line in text.splitlines() if line.startswith("# ") and " = " in line]
    assert len(examples) == len(SETTINGS)
    assert {'# junit = "report.xml"', '# markdown = "report.md"'} <= set(examples)
    for line in examples:
        text = text.replace(line, line.removeprefix("# "))
    (tmp_path / "aml.toml").write_text(text)
    found = resolve({}, environ={}, directory=tmp_path)
    assert len(found.given) == len(SETTINGS)


def test_a_declaration_is_written_where_it_is_asked_for(init, tmp_path):
    with in_thread(Endpoint().app) as url:
        assert init("--url", url).returncode == 0
        assert "[declaration]" not in (tmp_path / "aml.toml").read_text()
        assert init("--url", url, "--declaration", "--force").returncode == 0
    file = tmp_path / "aml.toml"
    assert tomllib.loads(file.read_text())["declaration"] == {"review": {}}
    assert declaration_from(file) == Declaration()
    assert set(resolve({}, environ={}, directory=tmp_path).origins) == {"url"}


def test_what_a_declaration_has_as_comments_is_complete_when_it_is_taken_up(tmp_path):
    _, _, text = toml_text({}, (), sections()).partition("[declaration]")
    file = tmp_path / "aml.toml"
    file.write_text("[declaration]" + re.sub(r"^# (?=\w+ = )", "", text, flags=re.MULTILINE))
    declared = declaration_from(file)
    assert declared.model_fields_set == set(Declaration.model_fields)
    assert not list(grounds(declared, Circumstances(track="textual", auth="bearer")))


def test_a_server_that_the_kit_starts_is_asked_too_and_check_reads_what_is_written(init, tmp_path):
    asked = init("--cmd", command())
    assert asked.returncode == 0, asked.stderr
    assert written(tmp_path) == {"endpoint": {"cmd": command()}}
    done = subprocess.run(
        [
            *(sys.executable, "-m", "aml_cli.main", "check", "--json", "r.json"),
            *("--only", "structure/add-success", "--seed", "5"),
        ],
        cwd=tmp_path,
        env={**os.environ, "AML_CONCURRENCY": "3"},
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    origins = json.loads((tmp_path / "r.json").read_text())["settings"]["origins"]
    assert origins.pop("cmd").startswith("aml.toml:")
    assert origins == {
        "concurrency": "$AML_CONCURRENCY", "json": "--json",
        "only": "--only", "seed": "--seed",
    }  # fmt: skip
    for words in (f"cmd          {command()}  (aml.toml:", "concurrency  3  ($AML_CONCURRENCY)"):
        assert words in done.stdout
