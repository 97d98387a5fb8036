"""``aml compare`` after real checks of real servers."""

import json

from tests.comparison.conftest import FIRST, SECOND, report
from tests.smoke.memory import Memory, serving


class Shouting(Memory):
    def on_add(self, body):
        status, reply = super().on_add(body)
        return status, {**reply, "user_id": reply["user_id"].upper()}


def checked(aml, server, name, *flags):
    ran = aml("check", "--url", server.url, "--only", "echo", "--json", name, *flags)
    assert ran.returncode in (0, 1), ran.stderr


def test_another_version_behind_one_url_is_found_out(aml, tmp_path):
    with serving() as server:
        port = server.server_address[1]
        checked(aml, server, "before.json", "--seed", "1")
    with serving(lambda: Shouting(port)) as server:
        checked(aml, server, "after.json", "--seed", "1")
    with serving() as other:
        checked(aml, other, "other.json", "--seed", "1")
    ran = aml("compare", "before.json", "after.json", "other.json", "--html", "page.html")
    assert ran.returncode == 0, ran.stderr
    assert "3 runs of 2 endpoints" in ran.stdout
    assert "From A to B" in ran.stdout
    assert "Newly failing" in ran.stdout
    failed = [
        rule["rule"]
        for rule in json.loads((tmp_path / "after.json").read_text())["rules"]
        if rule["outcome"] == "failed"
    ]
    assert failed
    assert all(rule in ran.stdout for rule in failed)
    assert "aml compare" in (tmp_path / "page.html").read_text()


def test_what_a_server_said_cannot_write_to_the_terminal(aml, written):
    ran = aml("compare", *written(report(FIRST), report(SECOND, hours=1)))
    assert ran.returncode == 0, ran.stderr
    assert "\x1b" not in ran.stdout
    assert "Newly failing" in ran.stdout


def test_mistakes_are_one_sentence(aml, written, tmp_path):
    one = written(report(FIRST))[0]
    for arguments, words in (
        ([one], "one report cannot be compared"),
        ([one, "nowhere.json"], "nowhere.json cannot be read"),
        ([one, one], "reports of one run"),
    ):
        ran = aml("compare", *arguments)
        assert ran.returncode == 2
        assert words in ran.stderr
        assert len(ran.stderr.splitlines()) == 1
    two = written(report(FIRST), report(SECOND, hours=1))
    ran = aml("compare", *two, "--html", "/dev/full")
    assert ran.returncode == 3
    assert "was not written" in ran.stderr
