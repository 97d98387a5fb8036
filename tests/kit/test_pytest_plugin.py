"""The plugin as a stranger's project meets it: own tests, testpaths, strict markers."""

import re
import subprocess
import sys

import pytest

from aml_contract.checking.document import report_of
from aml_contract.checking.events import read_events
from tests.kit.conftest import command, events_of

FEW = ("--aml-only", "structure/add-success", "--aml-only", "visibility/immediate")


@pytest.fixture
def project(tmp_path):
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests/test_own.py").write_text("def test_own():\n    pass\n")
    (tmp_path / "pytest.ini").write_text(
        "[pytest]\ntestpaths = tests\naddopts = --strict-markers --strict-config\n"
    )

    def run(*arguments):
        words = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *map(str, arguments)]
        return subprocess.run(
            words, cwd=tmp_path, capture_output=True, text=True, check=False, timeout=120
        )

    return run


def counts(done):
    """``{"passed": 2, …}`` of the last line."""
    last = done.stdout.strip().splitlines()[-1]
    return {word: int(count) for count, word in re.findall(r"(\d+) (\w+)", last)}


def test_one_item_a_rule_and_the_verdict(project):
    done = project("--aml-contract", "--aml-cmd", command(), *FEW, "-v", "--aml-seed", 5)
    assert done.returncode == 0, done.stdout
    assert "aml_contract::visibility/immediate PASSED" in done.stdout
    assert "aml_contract::structure/add-success PASSED" in done.stdout
    assert "test_own" not in done.stdout
    assert "CONFORMANT: every MUST rule" in done.stdout
    assert "seed 5" in done.stdout


def test_a_failure_shows_our_message_and_no_traceback(project):
    done = project("--aml-contract", "--aml-cmd", command("lose"), *FEW)
    assert done.returncode == 1
    assert counts(done) == {"failed": 1, "passed": 1}
    assert "FAILED aml_contract::visibility/immediate" in done.stdout
    assert "fix  " in done.stdout
    assert "curl -sS -i http" in done.stdout
    assert "NONCONFORMANT" in done.stdout
    assert "pytest_suite.py" not in done.stdout


def test_what_cannot_be_tested_is_skipped_with_its_reason(project, serve):
    done = project(
        "--aml-contract", "--aml-url", serve().url, "-rs",
        "--aml-only", "repeats/after-kill", "--aml-only", "auth/missing-key", *FEW,
    )  # fmt: skip
    assert done.returncode == 0
    assert counts(done) == {"passed": 2, "skipped": 2}
    assert re.search(r"SKIPPED .*not tested: needs a server that the kit may kill", done.stdout)
    assert re.search(r"SKIPPED .*not applicable: no key scheme was given", done.stdout)
    assert "INCOMPLETE" in done.stdout


def test_a_risk_passes_with_a_warning_even_where_warnings_are_errors(project):
    # The subject answers malformed JSON with a 500: a SHOULD.
    rule = ("--aml-only", "errors/never-succeeds")
    done = project("--aml-contract", "--aml-cmd", command(), *rule, "-W", "error")
    assert done.returncode == 0, done.stdout
    assert counts(done)["passed"] == 1
    assert "ContractWarning: errors/never-succeeds" in done.stdout
    strict = project("--aml-contract", "--aml-cmd", command(), *rule, "--aml-strict")
    assert counts(strict) == {"failed": 1}


def test_nothing_there_is_one_message(project):
    done = project("--aml-contract", "--aml-url", "http://127.0.0.1:1")
    assert done.returncode == pytest.ExitCode.USAGE_ERROR
    assert done.stdout.count("connection refused") == 1
    assert "curl -sS -i http://127.0.0.1:1/health" in done.stdout
    assert "FAILED" not in done.stdout


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([], "no endpoint was named"),
        (["--aml-url", "http://h", "--aml-cmd", "x {port}"], "more than one"),
        (["--aml-url", "http://h", "--aml-only", "visibilty"], "visibility"),
        (["--aml-url", "http://h", "--aml-auth", "bearer"], "needs a key"),
    ],
)
def test_mistakes_of_usage(project, arguments, words):
    done = project("--aml-contract", *arguments)
    assert done.returncode == pytest.ExitCode.USAGE_ERROR
    assert words in done.stderr + done.stdout
    assert "Traceback" not in done.stderr + done.stdout


def test_collecting_sends_nothing(project, serve):
    served = serve()
    done = project("--aml-contract", "--aml-url", served.url, "--collect-only", "-q")
    assert "aml_contract::isolation/case-twins" in done.stdout
    assert served.stats()["adds"] == served.stats()["searches"] == 0


def test_selection_is_pytests_own_and_limits_what_is_sent(project, serve):
    served = serve()
    one = project("--aml-contract", "--aml-url", served.url, "-k", "add-success")
    assert counts(one)["passed"] == 1
    adds = served.stats()["adds"]
    assert 0 < adds < 5
    by_id = project("--aml-contract", "--aml-url", served.url, "aml_contract::visibility/immediate")
    assert counts(by_id) == {"passed": 1}
    musts = project("--aml-contract", "--aml-url", served.url, "--co", "-q", "-m", "aml_may")
    assert "latency/cold-start" in musts.stdout
    assert "latency/add" not in musts.stdout


def test_paths_are_run_beside_the_contract(project):
    done = project("--aml-contract", "--aml-cmd", command(), *FEW, "tests")
    assert counts(done) == {"passed": 3}


def test_the_first_failure_ends_the_check(project, serve, tmp_path):
    url = serve("shout", "slow").url  # what is found at once, beside rules that take long
    done = project("--aml-contract", "--aml-url", url, "-x", "-k", "echo/ids or visibility")
    assert counts(done)["failed"] == 1
    report = report_of(read_events(events_of(tmp_path)))
    assert report.stopped == "interrupted"


def test_xdist_sends_all_rules_to_one_worker(project, serve):
    served = serve()
    done = project("--aml-contract", "--aml-url", served.url, "-n", 2, "-v", *FEW, "tests")
    assert done.returncode == 0, done.stdout
    assert counts(done) == {"passed": 3}
    workers = set(re.findall(r"\[(gw\d)\].*PASSED aml_contract::", done.stdout))
    assert len(workers) == 1
    assert "CONFORMANT: every MUST rule that applies passed (2 of 2)" in done.stdout


def test_without_the_option_nothing_of_the_kit_is_imported(project, tmp_path):
    (tmp_path / "tests/test_own.py").write_text(
        "import sys\n"
        "def test_own():\n"
        "    kit = {m for m in sys.modules if m.startswith('aml_')}\n"
        "    assert kit == {'aml_contract', 'aml_contract.pytest_plugin'}, kit\n"
        "    assert not {'httpx', 'rich', 'pydantic'} & set(sys.modules)\n"
    )
    done = project("-p", "no:anyio", "-p", "no:hypothesispytest")
    assert done.returncode == 0, done.stdout
    assert counts(done) == {"passed": 1}
