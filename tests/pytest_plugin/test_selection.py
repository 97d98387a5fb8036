"""Selection is pytest's own, and nothing is sent but what it leaves."""

import re

from aml_contract.checking.document import report_of
from aml_contract.checking.events import read_events
from aml_contract.rule import all_rules
from tests.pytest_plugin.conftest import FEW, command, counts, events_of

HEARD = "aml_contract::visibility/immediate"
STORED = "aml_contract::structure/add-success"


def listed(done):
    """The rules of ``--collect-only -q``."""
    return set(re.findall(r"^aml_contract::(\S+)$", done.stdout, re.MULTILINE))


def test_listing_sends_nothing_and_asks_for_no_endpoint(project, serve):
    served = serve()
    done = project.contract("--aml-url", served.url, "--collect-only", "-q")
    assert listed(done) == {rule.name for rule in all_rules()}
    assert served.stats()["adds"] == served.stats()["searches"] == 0
    musts = project.contract("--co", "-q", "-m", "aml_must and not aml_isolation")
    assert musts.returncode == 0, musts.stderr
    assert listed(musts) == {
        rule.name for rule in all_rules() if rule.level == "MUST" and rule.family != "isolation"
    }


def test_a_plan_and_the_markers_send_nothing(project, serve):
    served = serve()
    planned = project.contract("--aml-url", served.url, *FEW, "--setup-plan")
    assert planned.returncode == 0, planned.stdout
    assert served.stats()["adds"] == 0
    markers = project.contract("--markers")
    assert "@pytest.mark.aml_must" in markers.stdout
    assert "@pytest.mark.aml_isolation" in markers.stdout


def test_what_is_selected_is_what_is_sent(project, serve):
    served = serve()
    at = ("--aml-url", served.url)
    assert counts(project.contract(*at, "-k", "add-success"))["passed"] == 1
    adds = served.stats()["adds"]
    assert 0 < adds < 5
    assert counts(project.contract(*at, HEARD)) == {"passed": 1}
    left = project.contract(*at, *FEW, "--deselect", HEARD)
    assert counts(left) == {"passed": 1, "deselected": 1}
    assert served.stats()["adds"] < 20


def test_what_failed_last_is_tried_again_alone_or_first(project):
    at = ("--aml-cmd", command("lose"), *FEW)
    first = project.contract(*at, light=False)
    assert counts(first) == {"failed": 1, "passed": 1}
    again = project.contract(*at, "--lf", light=False)
    assert counts(again) == {"failed": 1, "deselected": 1}
    ordered = project.contract(*at, "--ff", "-v", light=False)
    assert ordered.stdout.index(f"{HEARD} FAILED") < ordered.stdout.index(f"{STORED} PASSED")
    mended = project.contract("--aml-cmd", command(), *FEW, "--lf", light=False)
    assert counts(mended) == {"passed": 1, "deselected": 1}


def test_paths_are_run_beside_the_contract(project):
    done = project.contract("--aml-cmd", command(), *FEW, "tests")
    assert counts(done) == {"passed": 3}


def test_the_first_failure_ends_the_check_politely(project, serve):
    url = serve("shout", "slow").url  # what is found at once, beside rules that take long
    done = project.contract("--aml-url", url, "-x", "-k", "echo/ids or visibility")
    assert done.returncode == 1
    assert counts(done)["failed"] == 1
    assert "The check was stopped; this is what ran." in done.stdout
    report = report_of(read_events(events_of(project.root)))
    assert report.stopped == "interrupted"


def test_all_rules_go_to_one_worker_of_xdist(project, serve):
    done = project.contract("--aml-url", serve().url, "-n", 4, "-v", *FEW, "tests")
    assert done.returncode == 0, done.stdout
    assert counts(done) == {"passed": 3}
    workers = set(re.findall(r"\[(gw\d)\].*PASSED aml_contract::", done.stdout))
    assert len(workers) == 1
    assert "CONFORMANT: every MUST rule that applies passed (2 of 2)" in done.stdout


def test_without_xdist_its_mark_is_not_used(project, serve):
    """Settings are strict here: an unknown mark would end the session."""
    done = project.contract("--aml-url", serve().url, "-p", "no:xdist", "-W", "error", *FEW)
    assert done.returncode == 0, done.stdout
    assert counts(done) == {"passed": 2}
