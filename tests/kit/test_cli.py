import json
import os
import signal
import subprocess
import sys

import pytest

from aml_contract.checking.document import report_of
from aml_contract.checking.events import read_events
from aml_contract.rule import all_rules
from tests.kit.conftest import assert_no_server, command, events_of
from tests.servers import eventually

ONE = ("--only", "visibility/immediate", "--only", "structure/add-success")


def test_a_good_server_conforms_and_the_report_says_so(aml, tmp_path):
    done = aml("check", "--cmd", command(), *ONE, "--seed", 7, "--json", "out/r.json")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "CONFORMANT" in done.stdout
    report = json.loads((tmp_path / "out/r.json").read_text())
    assert report["verdict"] == "CONFORMANT"
    assert report["seed"] == 7
    assert report["endpoint"]["add_url"].endswith("/add")
    assert {rule["rule"] for rule in report["rules"]} == set(ONE[1::2])
    for rule in report["rules"]:
        assert {
            "rule", "level", "clause", "outcome", "transport", "message", "seconds", "exchanges",
        } <= set(rule)  # fmt: skip
        assert rule["outcome"] == "passed"
    assert report["requests"]["adds"] > 0


def test_a_finding_tells_what_why_fix_curl_and_how_to_repeat_it(aml, tmp_path):
    done = aml("check", "--cmd", command("lose"), *ONE, "--seed", 7, "--json", "r.json")
    assert done.returncode == 1
    for words in ("NONCONFORMANT", "visibility/immediate", "clause A12", "what", "why", "fix"):
        assert words in done.stdout
    assert (
        f"aml check --cmd '{command('lose')}' --seed 7 --only visibility/immediate" in done.stdout
    )
    curls = [line for line in done.stdout.splitlines() if line.startswith("curl ")]
    assert curls
    assert all(line.endswith("'") for line in curls), "a curl must be on one line"
    (failed,) = [
        rule
        for rule in json.loads((tmp_path / "r.json").read_text())["rules"]
        if rule["outcome"] == "failed"
    ]
    assert failed["exchanges"]


def test_an_ordinary_request_refused_is_one_finding_not_forty(aml, tmp_path):
    done = aml(
        "check", "--cmd", command("refuse"), "--only", "visibility", "--only", "echo",
        "--only", "structure/legal-requests", "--json", "r.json",
    )  # fmt: skip
    report = json.loads((tmp_path / "r.json").read_text())
    failed = [rule for rule in report["rules"] if rule["outcome"] == "failed"]
    assert [rule["rule"] for rule in failed] == ["structure/legal-requests"]
    assert "422" in failed[0]["message"]
    assert done.returncode == 1


def test_what_does_not_apply_is_indented_below_its_reason_in_a_narrow_terminal(aml):
    done = aml("check", "--cmd", command(), "--only", "auth", COLUMNS="60")
    told = done.stdout.partition("Not applicable\n")[2].partition("\n\n")[0]
    reason, *listed = told.splitlines()
    assert reason == "  no key scheme was given (--auth)"
    assert len(listed) > 1
    assert all(line.startswith("    auth/") for line in listed)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--url", "http://h", "--track", "audio"], "audio"),
        (["--url", "http://h", "--frobnicate"], "--frobnicate"),
    ],
)
def test_mistakes_of_usage_exit_with_2(aml, arguments, words):
    done = aml("check", *arguments)
    assert done.returncode == 2
    assert words in done.stderr


def test_nothing_tested_exits_with_5_and_incomplete_with_6(aml, serve):
    url = serve().url
    alone = aml("check", "--url", url, "--only", "repeats/after-kill")
    assert alone.returncode == 5
    assert "--cmd" in alone.stdout
    both = ("--only", "repeats/after-kill", "--only", "visibility/immediate")
    assert aml("check", "--url", url, *both).returncode == 0
    required = aml("check", "--url", url, *both, "--require-all")
    assert required.returncode == 6
    assert "INCOMPLETE" in required.stdout


def test_the_plan_sends_nothing_and_promises_no_less_than_is_sent(aml, serve, tmp_path):
    served = serve()
    selection = ("--only", "structure", "--only", "order", "--only", "latency")
    plan = aml("check", "--url", served.url, *selection, "--plan")
    assert plan.returncode == 0
    assert served.stats()["adds"] == served.stats()["searches"] == 0
    (total,) = [line.split() for line in plan.stdout.splitlines() if line.startswith(" total")]
    aml("check", "--url", served.url, *selection, "--json", "r.json")
    sent = json.loads((tmp_path / "r.json").read_text())["requests"]
    assert sent["adds"] <= int(total[1])
    assert sent["searches"] <= int(total[2])
    assert sent["adds"] == served.stats()["adds"] > 0
    assert sent["searches"] == served.stats()["searches"] > 0
    assert (tmp_path / ".aml" / ".gitignore").read_text() == "*\n"


def test_the_plan_says_what_ends_generated_requests(aml):
    both = aml("check", "--url", "http://127.0.0.1:9", "--plan").stdout
    assert "Generated requests (fuzz) end after 20 s, however many they are." in both
    one = aml("check", "--url", "http://127.0.0.1:9", "--plan", "--only", "structure").stdout
    assert "Generated" not in one


def test_every_rule_says_what_it_costs():
    free = {rule.name for rule in all_rules() if not any(vars(rule.cost).values())}
    assert not free


@pytest.mark.parametrize("sigint", [signal.SIG_IGN, signal.SIG_DFL], ids=["job", "terminal"])
def test_sigterm_ends_like_ctrl_c(aml_started, tmp_path, sigint):
    before = signal.signal(signal.SIGINT, sigint)  # shells have jobs of scripts ignore it
    try:
        child = aml_started("check", "--cmd", command("slow"), "--concurrency", 1)
    finally:
        signal.signal(signal.SIGINT, before)
    events = events_of(tmp_path)
    eventually(lambda: '"rule_started"' in events.read_text())
    child.terminate()
    assert child.wait(30) == 130
    assert_no_server(events)


def test_a_killed_run_keeps_what_it_found(aml_started, serve, tmp_path):
    few = ("--only", "time", "--only", "structure", "--concurrency", 1)
    child = aml_started("check", "--url", serve("slow").url, *few)
    events = events_of(tmp_path)
    eventually(lambda: events.read_text().count('"rule_finished"') >= 2)
    child.kill()
    child.wait()
    with events.open("a") as file:
        file.write('{"event": "rule_fini')  # as a kill in the middle of a write leaves it
    report = report_of(read_events(events))
    assert report.stopped == "killed"
    cut_short = [rule for rule in report.rules if "the run was killed" in rule.message]
    assert 2 <= len(report.rules) - len(cut_short) < len(report.rules)


def test_no_key_in_anything_written(aml, serve, tmp_path):
    key = "canary/key+Qx5Zäö"
    url = serve("lose", SUBJECT_KEY=key).url
    done = aml(
        "check", "--url", url, "--auth", "bearer", "--key-env", "MY_VAR", "--json", "r.json",
        "--only", "structure/add-success", "--only", "auth", "--only", "visibility/immediate",
        MY_VAR=key,
    )  # fmt: skip
    written = [done.stdout, done.stderr]
    written += [p.read_text() for p in tmp_path.rglob("*") if p.is_file()]
    assert len(written) > 3
    for text in written:
        assert "Qx5Z" not in text
    assert "$AML_KEY" in (tmp_path / "r.json").read_text()
    report = json.loads((tmp_path / "r.json").read_text())
    passed = [rule["rule"] for rule in report["rules"] if rule["outcome"] == "passed"]
    assert "structure/add-success" in passed, "the key must have been sent"


def test_a_disk_that_cannot_be_written_costs_no_result(aml, serve, tmp_path):
    (tmp_path / ".aml").write_text("not a directory")
    done = aml("check", "--url", serve().url, *ONE)
    assert done.returncode == 0
    assert "events are not kept" in done.stderr


def test_a_terminal_of_few_characters_is_no_reason_to_fail(aml, serve):
    done = aml("check", "--url", serve().url, *ONE, PYTHONIOENCODING="ascii")
    assert done.returncode == 0
    assert "CONFORMANT" in done.stdout


def test_a_reader_that_goes_away_changes_neither_the_report_nor_the_exit(serve, tmp_path):
    reader, writer = os.pipe()
    os.close(reader)
    child = subprocess.run(
        [
            *(sys.executable, "-m", "aml_cli.main", "check", "--url", serve().url, *ONE),
            *("--json", "report.json"),
        ],
        cwd=tmp_path,
        stdout=writer,
        check=False,
        timeout=120,
    )
    os.close(writer)
    assert child.returncode == 0
    assert json.loads((tmp_path / "report.json").read_text())["verdict"] == "CONFORMANT"


def test_explain_and_rules_speak_of_every_rule(aml):
    listed = aml("rules", COLUMNS="80").stdout  # names stay whole in a narrow terminal or a pipe
    for rule in all_rules():
        assert rule.name in listed
    explained = aml("explain", "latency/add").stdout
    for words in ("MUST", "why", "fix", "F2", "at most"):
        assert words in explained
    unknown = aml("explain", "latency/ad")
    assert unknown.returncode == 2
    assert "latency/add" in unknown.stderr
